#compdef telcat telfilter telstat telreplay telrec
# SPDX-License-Identifier: BSD-2-Clause
#
# Completion of the tools in zsh.  Options and the words that they take are
# those of --help=table; types, kinds and fields are those of the logs on the
# command line.

# Offers column $1 of the types of the logs that the command line names.
_teltools_types() {
	local -a files found
	local word
	for word in ${words[2,-1]}; do
		[[ $word != -* && -f $word ]] && files+=("$word")
	done
	(( $#files )) || return
	found=(${(f)"$(telcat --types -q -f csv -- $files 2>/dev/null |
	    awk -F , -v column=$1 'NR > 1 {
		n = split($column, word, " ")
		for (i = 1; i <= n; i++) {
			sub(/:.*/, "", word[i])
			print word[i]
		}
	    }' | sort -u)"})
	_values -s , log $found
}

_teltools() {
	local row letter name argument text choices rest
	local -a specs columns

	for row in ${(f)"$($service --help=table 2>/dev/null)"}; do
		columns=("${(@ps:\t:)row}")
		letter=$columns[1] name=$columns[2] argument=$columns[3]
		text=$columns[4] choices=$columns[5]
		text=${text//\[/\\[}
		text=${text//\]/\\]}
		text=${text//:/\\:}
		case $argument in
		'') rest= ;;
		KINDS) rest=':kinds: _teltools_types 4' ;;
		TYPES) rest=':types: _teltools_types 5' ;;
		FIELDS) rest=':fields: _teltools_types 6' ;;
		LIST) rest=": : _values -s , allocator ${choices}" ;;
		FILE | PROGRAM | LOG | LIBRARY) rest=':file:_files' ;;
		'['*) rest="::${name}:(${choices})" ;;
		*) rest=":${name}:(${choices})" ;;
		esac
		case $argument in
		'')
			[[ -n $letter ]] && specs+=("*-${letter}[${text}]")
			specs+=("*--${name}[${text}]")
			;;
		'['*)
			[[ -n $letter ]] && specs+=("*-${letter}[${text}]")
			specs+=("*--${name}=-[${text}]${rest}")
			;;
		*)
			[[ -n $letter ]] &&
			    specs+=("*-${letter}+[${text}]${rest}")
			specs+=("*--${name}=[${text}]${rest}")
			;;
		esac
	done
	_arguments -s -S $specs '*:log:_files'
}

_teltools "$@"
