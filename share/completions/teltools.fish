# SPDX-License-Identifier: BSD-2-Clause
#
# Completion of the tools in fish, which loads the file by the tool's name.
# Options and the words that they take are those of --help=table; types, kinds
# and fields are those of the logs on the command line.

# Offers column $argv of the types of the logs that the command line names.
function __teltools_types
    set -l files
    for word in (commandline -op)[2..-1]
        test -f "$word"; and set -a files $word
    end
    test (count $files) -gt 0; or return
    telcat --types -q -f csv -- $files 2>/dev/null | awk -F , -v column=$argv 'NR > 1 {
        n = split($column, word, " ")
        for (i = 1; i <= n; i++) {
            sub(/:.*/, "", word[i])
            print word[i]
        }
    }' | sort -u
end

# Offers words as the last part of a list that is separated by commas.
function __teltools_words
    set -l before (commandline -ct | string match -r '^(?:--[a-z-]+=)?(.*,)')[2]
    for word in $argv
        echo "$before$word"
    end
end

function __teltools_list
    __teltools_words (__teltools_types $argv)
end

# What an output format is.
function __teltools_format
    switch $argv
        case text
            echo 'a line for each event or figure'
        case csv
            echo 'comma-separated values, with a header'
        case json
            echo 'an object on each line'
        case arrow
            echo 'a table of typed columns, for pandas, polars, DuckDB'
        case sql
            echo 'statements that make the tables of mpseventsql'
        case sqlite
            echo 'a database with those tables'
        case mpscnv
            echo 'as mpseventcnv of the MPS prints it'
        case mpstxt
            echo 'as mpseventtxt of the MPS prints it'
        case tracerpt
            echo 'the columns of tracerpt of Windows'
        case perfetto
            echo 'a trace for ui.perfetto.dev'
        case chrome
            echo 'JSON for chrome://tracing and speedscope'
        case folded
            echo 'stacks with bytes, for flame graphs'
        case html
            echo 'a page for a browser'
        case ctf
            echo 'a trace of CTF 1.8, for babeltrace'
        case ctf2
            echo 'a trace of CTF 2'
        case mps
            echo 'a stream of the MPS, mps:VERSION of a release'
        case inst
            echo 'records of Mac OS Instrumentation'
        case hpm
            echo 'a trace of Jikes RVM'
        case ets
            echo 'a log of Singularity'
        case tel
            echo 'compact and self-describing, tel(5)'
        case 'tel,lines'
            echo 'the same, each event at once'
        case openmetrics
            echo 'metrics, with exact totals'
        case prometheus
            echo 'metrics in the text form of Prometheus'
        case svg
            echo 'a picture'
    end
end

set -l tool (basename (status filename) .fish)
for row in ($tool --help=table 2>/dev/null)
    set -l column (string split \t -- $row)
    set -l options -c $tool -l $column[2] -d $column[4]
    test -n "$column[1]"; and set -a options -s $column[1]
    switch $column[3]
        case ''
            complete $options
        case KINDS
            complete $options -x -a '(__teltools_list 4)'
        case TYPES
            complete $options -x -a '(__teltools_list 5)'
        case FIELDS
            complete $options -x -a '(__teltools_list 6)'
        case LIST
            complete $options -x -a "(__teltools_words $column[5])"
        case FORMAT
            complete $options -x
            for word in (string split -n ' ' -- $column[5])
                # --as takes formats, too, which have none
                set -l text (__teltools_format $word)
                complete $options -x -a $word -d "$text"
            end
        case FILE PROGRAM LOG LIBRARY
            complete $options -r -F
        case '[*'
            # an argument that may be omitted follows a =
            complete $options -f -a "$column[5]"
        case '*'
            complete $options -x -a "$column[5]"
    end
end
