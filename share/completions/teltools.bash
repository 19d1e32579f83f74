# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Completion of the tools in bash.  Options and the words that they take are
# those of --help=table; types, kinds and fields are those of the logs on the
# command line.

# The rows of the tool $1 with the letter or name of the option $2.
_teltools_option() {
	"$1" --help=table 2>/dev/null | awk -F '\t' -v option="$2" '
	    option == "-" $1 || option == "--" $2'
}

# Column $1 of the types of the logs that the command line names.
_teltools_types() {
	local column=$1 word files=()
	for word in "${COMP_WORDS[@]:1}"; do
		[[ $word != -* && -f $word ]] && files+=("$word")
	done
	[ ${#files[@]} -gt 0 ] || return
	telcat --types -q -f csv -- "${files[@]}" 2>/dev/null |
	    awk -F , -v column="$column" 'NR > 1 {
		n = split($column, word, " ")
		for (i = 1; i <= n; i++) {
			sub(/:.*/, "", word[i])
			print word[i]
		}
	    }' | sort -u
}

# Completes the last part of a list that is separated by commas.
_teltools_list() {
	local cur=$1 words=$2 before=
	[[ $cur == *,* ]] && before=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- \
	    "${cur##*,}")
	compopt -o nospace
}

_teltools_options() {
	mapfile -t COMPREPLY < <(compgen -W "$("$1" --help=table |
	    awk -F '\t' '{ print "--" $2 } $1 != "" { print "-" $1 }')" -- "$2")
}

_teltools() {
	local tool=$1 cur=$2 option=$3 argument words row

	# --format=csv is three words for bash
	if [ "$cur" = = ]; then
		cur=
	elif [ "$option" = = ]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	row=$(_teltools_option "$tool" "$option")
	argument=$(cut -f 3 <<<"$row")
	words=$(cut -f 5 <<<"$row")
	case $argument in
	KINDS) _teltools_list "$cur" "$(_teltools_types 4)" ;;
	TYPES) _teltools_list "$cur" "$(_teltools_types 5)" ;;
	FIELDS) _teltools_list "$cur" "$(_teltools_types 6)" ;;
	LIST) _teltools_list "$cur" "$words" ;;
	'' | FILE | PROGRAM | LOG | LIBRARY | '['*)
		if [ -n "$words" ] && [ "${COMP_WORDS[COMP_CWORD]}" = = ] ||
		    [ "$3" = = ]; then
			mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		elif [[ $cur == -* ]]; then
			_teltools_options "$tool" "$cur"
		else
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		fi
		;;
	*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur") ;;
	esac
}

complete -F _teltools telcat telfilter telstat telreplay telrec
