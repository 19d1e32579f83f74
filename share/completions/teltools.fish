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

# The same as the last part of a list that is separated by commas.
function __teltools_list
    set -l before (commandline -ct | string match -r '^(?:--[a-z-]+=)?(.*,)')[2]
    for name in (__teltools_types $argv)
        echo "$before$name"
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
        case FILE PROGRAM
            complete $options -r -F
        case '[*'
            # an argument that may be omitted follows a =
            complete $options -f -a "$column[5]"
        case '*'
            complete $options -x -a "$column[5]"
    end
end
