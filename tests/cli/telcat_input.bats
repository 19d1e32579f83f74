#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What telcat reads: files, pipes, compressed and archived, text again, and
# what it cannot read.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
	telcat mpsio.log >want
}

@test "a file, standard input and a pipe are the same" {
	telcat <mpsio.log | cmp want -
	telcat - <mpsio.log | cmp want -
	# shellcheck disable=SC2002 # a pipe on purpose
	cat mpsio.log | telcat | cmp want -
	mkfifo fifo
	cat mpsio.log >fifo &
	telcat fifo | cmp want -
}

@test "compressed input is found out, from a file and from a pipe" {
	gzip -c mpsio.log >log.1
	bzip2 -c mpsio.log >log.2
	xz -c mpsio.log >log.3
	lz4 -qc mpsio.log >log.4
	zstd -qc mpsio.log >log.5
	for i in 1 2 3 4 5; do
		echo "log.$i"
		clean telcat "log.$i" | cmp want -
		# shellcheck disable=SC2002 # a pipe on purpose
		cat "log.$i" | clean telcat | cmp want -
	done
}

@test "a library is loaded only for what it reads, and its absence reported" {
	if nm -D "$TEL_BUILD/bin/telcat" | grep -q archive_read_new; then
		skip "libarchive is linked"
	fi
	mkdir empty
	echo "no library" | tee empty/libarchive.so.13 empty/libbz2.so.1.0 \
		empty/libbz2.so.1 empty/liblz4.so.1 empty/liblzma.so.5 \
		>empty/libz.so.1
	gzip -c mpsio.log >log.gz
	bzip2 -c mpsio.log >log.bz2
	xz -c mpsio.log >log.xz
	lz4 -qc mpsio.log >log.lz4
	zstd -qc mpsio.log >log.zst
	tar cf logs.tar mpsio.log
	libraries=empty${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	for log in mpsio.log log.zst; do
		LD_LIBRARY_PATH=$libraries telcat "$log" | cmp want -
	done
	for log in "log.gz zlib libz" "log.bz2 libbz2 libbz2" \
		"log.xz liblzma liblzma" "log.lz4 liblz4 liblz4" "logs.tar libarchive libarchive"; do
		read -r log name file <<<"$log"
		LD_LIBRARY_PATH=$libraries run -1 --separate-stderr telcat "$log"
		[[ $stderr == "telcat: $log: "*": $name is needed to read it: "*"$file.so"* ]]
	done
}

@test "compressed parts that were put together are one log" {
	head -c 3000 mpsio.log >one
	tail -c +3001 mpsio.log >two
	for tool in gzip bzip2 xz 'lz4 -q' 'zstd -q'; do
		echo "$tool"
		{
			$tool -c <one
			$tool -c <two
		} >both
		clean telcat both | cmp want -
	done
	# a frame of 5 bytes that is skipped, before and behind others
	{
		lz4 -qc <one
		printf '\120\52\115\30\5\0\0\0hello'
		lz4 -qc <two
		printf '\137\52\115\30\0\0\0\0'
	} >both
	clean telcat both | cmp want -
}

@test "each member of an archive that is a log is read" {
	unpack 1.117.0-lii6gc-poolncv b.log
	mv mpsio.log a.log
	{
		telcat a.log
		telcat b.log
	} >want
	echo "no log at all, but a file" >note
	: >nothing
	mkdir folder
	tar -cf t.tar a.log folder note nothing b.log
	zip -q t.zip a.log note nothing b.log
	7z a -bd t.7z a.log note nothing b.log >/dev/null
	printf '%s\n' a.log note nothing b.log | cpio -o --quiet >t.cpio
	for archive in t.tar t.zip t.7z t.cpio; do
		echo "$archive"
		clean telcat --no-merge "$archive" | cmp want -
		# shellcheck disable=SC2002 # a pipe on purpose
		cat "$archive" | clean telcat --no-merge | cmp want -
	done
	gzip -c t.tar | clean telcat --no-merge | cmp want -
	zstd -qc t.tar | clean telcat --no-merge | cmp want -
	zstd -q a.log b.log
	tar -cf z.tar a.log.zst note b.log.zst
	clean telcat --no-merge z.tar | cmp want -
}

@test "an archive of many texts, of the same types and of others: little time and memory" {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer needs more" ;; esac
	[ -z "${TEST_VALGRIND-}" ] || skip "valgrind needs more"
	cat >many.py <<-'END'
		import io, resource, subprocess, sys, tarfile
		COUNT = int(sys.argv[2])
		text = b"0000000000000001 Alloc ptr=0x10 size=16\n"

		def pack(name, texts):
		    with tarfile.open(name, "w:gz", compresslevel=1) as archive:
		        for i in range(COUNT):
		            member = tarfile.TarInfo("%d.log" % i)
		            member.size = len(texts(i))
		            archive.addfile(member, io.BytesIO(texts(i)))

		def run(name, options, room):
		    before = resource.getrusage(resource.RUSAGE_CHILDREN)
		    out = subprocess.run([sys.argv[1], "-q", *options, name],
		                         stdout=subprocess.PIPE, check=True).stdout
		    after = resource.getrusage(resource.RUSAGE_CHILDREN)
		    seconds = after.ru_utime - before.ru_utime
		    print(name, options, seconds, after.ru_maxrss)
		    # 100,000 of them: 20 s; the memory is the most of all runs so far
		    assert seconds < 4 and after.ru_maxrss < 10000 + room * max(COUNT, 5000)
		    return out

		pack("many.tgz", lambda i: text)
		assert run("many.tgz", ["-c"], 2) == b"%d\n" % COUNT
		assert run("many.tgz", ["-H"], 2) == text * COUNT
		assert run("many.tgz", ["-H", "--no-merge"], 2) == text * COUNT
		pack("other.tgz", lambda i: b"# teltools text 1\n# type: E%d 1 K "
		     b"size:unsigned\n0000000000000001 E%d size=1\n" % (i, i))
		for output in "json", "sql", "chrome":
		    assert b"E%d" % (COUNT - 1) in run("other.tgz", ["-f", output], 5.5)
		run("other.tgz", ["-f", "html"], 5.5)
		# all logs and types are read back
		open("other.tel", "wb").write(run("other.tgz", ["-f", "tel"], 5.5))
		assert run("other.tel", ["-H"], 7.5) == b"".join(
		    b"0000000000000001 E%d size=1\n" % i for i in range(COUNT))
	END
	local count=3000
	[ -z "${TEST_WHOLE-}" ] || count=20000
	python3 many.py "$TEL_BUILD/bin/telcat" $count
	clean bash -c 'ulimit -t 4; telstat -f json other.tel' |
	    grep -c '"type":"event",' | grep -qx $count
	# the format of each text is looked for among those that are built in
	[ -z "${TEST_WHOLE-}" ] || count=50000
	python3 - $count <<-'END'
		import io, sys, tarfile

		with tarfile.open("named.tgz", "w:gz", compresslevel=1) as tar:
		    for i in range(int(sys.argv[1])):
		        text = b"# teltools text 1\n# format: mine\n# type: E%d 1 " \
		            b"K size:unsigned\n0000000000000001 E%d size=1\n" % (i, i)
		        member = tarfile.TarInfo("%d" % i)
		        member.size = len(text)
		        tar.addfile(member, io.BytesIO(text))
	END
	clean bash -c 'ulimit -t 3; telcat -c named.tgz' | grep -qx $count
}

@test "a text of very many types: little time, and a warning for the rest" {
	[ -z "${TEST_VALGRIND-}" ] || skip "valgrind needs more"
	python3 - <<-'END'
		with open("types", "w") as text:
		    text.write("# teltools text 1\n")
		    for i in range(200000):
		        text.write("# type: T%d %d K a:unsigned\n" % (i, i + 1))
		    for i in range(5000):
		        text.write("%016X T%d a=1\n" % (i, i))
	END
	# shellcheck disable=SC2016 # the inner shell expands it
	run -3 --separate-stderr bash -c 'ulimit -t 10; "$0" -c types' \
	    "$TEL_BUILD/bin/telcat"
	[ "$output" = 4096 ]
	[[ ${stderr_lines[-1]} == *': 904 damaged places, '* ]]
}

@test "more files than may be open: small ones are merged by a copy" {
	local n

	for n in {1..90}; do
		printf '%016X Alloc ptr=0x10 size=16\n' "$n" "$((200 - n))" \
		    >"$n.text"
	done
	telfilter -f tel -z1 -o 70.text 71.text
	telcat {1..90}.text >want
	clean bash -c 'ulimit -n 32; telcat "$@"' sh {1..90}.text >got
	cmp got want
	clean bash -c 'ulimit -n 32; telcat -t 10%,50% "$@"' sh {1..90}.text >got
	telcat -t 10%,50% {1..90}.text | cmp - got
	clean bash -c 'ulimit -n 32; telcat -n -5 "$@"' sh {1..90}.text >got
	telcat -n -5 {1..90}.text | cmp - got
	[ "$(grep -vc "^#" got)" = 5 ]
	# damage is that of the file, at its own place
	echo junk >>80.text
	run -3 --separate-stderr bash -c 'ulimit -n 32; telcat "$@"' sh \
	    {1..90}.text
	[[ ${stderr_lines[0]} == 'telcat: 80.text: offset 80: '* ]]
	run -1 --separate-stderr bash -c \
	    'ulimit -n 32; TMPDIR=/nowhere telcat "$@"' sh {1..90}.text
	[ -z "$output" ]
	[[ $stderr == 'telcat: '*.text': copying it to /nowhere: No such file or directory' ]]
}

@test "more files than may be open: one message, and nothing merged of some" {
	local tool files

	for n in {1..40}; do
		printf '%016X Alloc ptr=0x10 size=16\n' "$n" >"$n.text"
		# too large to be copied, by zeros that were never written
		truncate -s 1048577 "$n.text"
	done
	files=({1..40}.text)
	for tool in telcat telfilter telreplay; do
		run -1 --separate-stderr bash -c 'ulimit -n 32; "$@"' sh "$tool" \
		    "${files[@]}"
		[ -z "$output" ]
		[[ $stderr == "$tool: "*": Too many open files: 'ulimit -n' sets"* ]]
		[ "${#stderr_lines[@]}" = 1 ]
	done
	# those that are read one after the other need none of it
	truncate -s 40 "${files[@]}"
	run -0 bash -c 'ulimit -n 32; telcat --no-merge -H "$@"' sh "${files[@]}"
	[ "${#lines[@]}" = 40 ]
	run -0 bash -c 'ulimit -n 32; telstat -f json "$@"' sh "${files[@]}"
	[[ $output == *'"events":40,'* ]]
}

@test "messages name the member of an archive" {
	head -c 3001 mpsio.log >cut.log
	tar -cf t.tar cut.log
	run -3 --separate-stderr telcat -H t.tar
	[[ ${stderr_lines[0]} == 'telcat: t.tar:cut.log: offset 29'[0-9][0-9]': '* ]]
}

@test "names of members in UTF-8 are theirs in any locale" {
	python3 - <<-'END'
		import zipfile
		with zipfile.ZipFile('names.zip', 'w') as archive:
		    for name in ('d\u00e9but/\u65e5.log', 'd\u00e9but/\u672c.log'):
		        archive.write('mpsio.log', name)
	END
	local locale
	for locale in C C.UTF-8; do
		LC_ALL=$locale telstat -q -f csv -g file names.zip |
			grep -ao 'début/[^,]*' | sort -u |
			diff - <(printf '%s\n' début/日.log début/本.log)
	done
}

@test "several files are shown one after the other, if asked for" {
	telcat -H mpsio.log >one
	cat one one | cmp - <(telcat -H --no-merge mpsio.log mpsio.log)
	cat one one >both
	telcat -H --no-merge mpsio.log - <mpsio.log | cmp both -
	# one row of names in CSV
	telcat -f csv mpsio.log >one
	{
		cat one
		tail -n +2 one
	} | cmp - <(telcat -f csv --no-merge mpsio.log mpsio.log)
}

# members COUNT: an archive of texts of one event each, the latest first.
members() {
	python3 - "$1" <<-'END'
		import io, sys, tarfile
		with tarfile.open("many.tar", "w") as tar:
		    for i in range(int(sys.argv[1]), 0, -1):
		        text = b"# teltools text 1\n# format: mps-1.118.0/lii6gc\n" \
		            b"%016X ArenaPollBegin arena=0x%x\n" % (i, i)
		        member = tarfile.TarInfo("%d.txt" % i)
		        member.size = len(text)
		        tar.addfile(member, io.BytesIO(text))
	END
}

# memory KB COMMAND ...: runs a command that needs no more.
memory() {
	python3 - "$@" <<-'END'
		import resource, subprocess, sys
		done = subprocess.run(sys.argv[2:]).returncode
		most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		if most > int(sys.argv[1]):
		    print(f"# {most} KB", file=sys.stderr)
		    done = 1
		sys.exit(done)
	END
}

@test "members that are merged need one descriptor, and memory where they overlap" {
	members 100
	for i in {1..100}; do
		printf '%016X ArenaPollBegin arena=0x%x\n' "$i" "$i"
	done >want
	(ulimit -n 40 && telcat -H many.tar) | cmp - want
	count=4000
	[ -z "${TEST_WHOLE-}" ] || count=100000
	slow || memory=memory
	members $count
	for command in 'telcat' 'telcat -f csv' 'telstat' 'telcat -f tel' \
	    'telcat -c'; do
		if [ "$count $command" = '100000 telcat -f tel' ]; then
			run -1 --separate-stderr telcat -f tel -o got.tel many.tar
			[ "$stderr" = 'telcat: many.tar: a .tel stream has at most 65535 logs' ]
			continue
		fi
		# shellcheck disable=SC2086
		noted ${memory:+memory 90000} $command many.tar >got
	done
	[ "$(<got)" = $count ]
	telcat -H many.tar | grep -c arena= | grep -qx $count
	telcat -H many.tar | sort -c
	# nor in sequence: each described its types
	noted ${memory:+memory 20000} telcat --no-merge -f csv many.tar |
	    wc -l | grep -qx $((count + 1))
}

@test "files that are merged need memory where they overlap, and describe types once" {
	local members=1000 room=16000
	[ -z "${TEST_WHOLE-}" ] || members=4000 room=60000
	members $members
	count=$(ulimit -Hn)
	[ "$count" != unlimited ] && [ "$count" -lt $((members + 100)) ] ||
	    count=$((members + 100))
	mkdir many few
	tar -xf many.tar -C many
	# of the operands, the first are the latest
	find many -name '*.txt' | sort -rV | head -n $((count - 100)) >names
	slow || memory=memory
	for command in 'telcat' 'telcat -f tel' 'telfilter -f tel'; do
		# shellcheck disable=SC2086,SC2046
		noted ${memory:+memory $room} $command $(<names) >got
		telcat -H got | wc -l | grep -qx $((count - 100))
		telcat -H got | sort -c
	done
	# of texts without a header, too, which are compared with all releases
	head -n 300 names | xargs awk 'FNR == 3 {
	    print >("few/" substr(FILENAME, 6)); close("few/" substr(FILENAME, 6)) }'
	# shellcheck disable=SC2086
	noted ${memory:+memory $room} telcat -q -H few/*.txt >got
	tail -q -n 1 few/*.txt | LC_ALL=C sort | cmp - got
}

# Those that are closed until their turn report all that they do otherwise.
@test "files that are opened in their turn: messages, counts and failures" {
	for i in {101..260}; do
		for j in 1 2 3; do
			printf '%016X ArenaPollBegin arena=0x%x\n' $((i * 7 * j)) "$i"
			[ "$((i % 50 + j))" != 3 ] || echo 'no event'
		done >"$i.txt"
	done
	exits 3 telstat -j 1 --no-merge -f json [12]*.txt >want 2>messages
	exits 3 telcat -H [12]*.txt 2>got | LC_ALL=C sort >lines
	LC_ALL=C sort got | cmp <(sed 's/^telstat/telcat/' messages | LC_ALL=C sort) -
	cat [12]*.txt | grep arena= | LC_ALL=C sort | cmp - lines
	grep -c 'offset' got | grep -qx "$(grep -l '^no event' [12]*.txt | wc -l)"
	# a file of which a part is in the range alone
	exits '0|3' telcat -q -H -t 0x1000,0x1400 [12]*.txt >got
	exits '0|3' telcat -q -H --no-merge -t 0x1000,0x1400 [12]*.txt |
	    LC_ALL=C sort | cmp - <(LC_ALL=C sort got)
	wc -l <got | grep -qx '[1-9][0-9]'
	exits 1 telcat -q --strict -H [12]*.txt >got
}

@test "members of an archive that overlap in time, opened in their turn" {
	python3 - <<-'END'
		import random
		random.seed(27)
		for i in range(180):
		    at = random.randrange(1000)
		    kind = random.choice("ABC")
		    with open(f"{i:03}.txt", "w") as f:
		        print("# teltools text 1", file=f)
		        for j in range(random.randrange(6)):
		            at += random.randrange(100)
		            print(f"{at:016X} {kind} log={i} n={j}", file=f)
		            if j == 0 and i % 50 == 0:
		                print("no event", file=f)
	END
	find . -name '*.txt' -empty -delete
	exits 3 telcat -q -f tel --split log -o %03d.tel [0-9]*.txt
	for end in txt tel; do
		tar -cf all.tar [0-9]*.$end
		for command in 'telcat -H' 'telcat -q -f json' 'telcat -H -n 40' \
		    'telcat -q -H -t 300,900' 'telstat -q -f csv' 'telfilter -q -f text' \
		    'telcat -q -H -w clock>500' 'telcat -q -H -T relative'; do
			echo "$command of $end"
			# shellcheck disable=SC2086 # several words
			exits '0|1|3' $command [0-9]*.$end >want 2>/dev/null
			# shellcheck disable=SC2086
			exits '0|1|3' $command all.tar >got 2>messages
			grep -v input_bytes want >want.rest || true
			grep -v input_bytes got | cmp want.rest -
		done
		exits '0|1|3' telcat -q -f tel all.tar | exits '0|3' telcat -H |
		    cmp <(exits '0|1|3' telcat -q -H all.tar) -
	done
	tar -cf all.tar [0-9]*.txt
	# each damaged line is reported once, though the first was looked up twice
	run -3 --separate-stderr telcat -H all.tar
	[ "$(grep -c 'offset .*100.txt\|100.txt: offset' <<<"$stderr")" = \
	    "$(exits 3 telcat -H 100.txt 2>&1 >/dev/null | grep -c offset)" ]
}

@test "members of an archive that are opened at once have a reader each" {
	python3 - <<-'END'
		for i in range(69):
		    many = i >= 66
		    with open(f"{i:02}.text", "w") as f:
		        for k in range(70000 if many else 1):
		            print(f"{many * 100 + k:016X} Alloc ptr=0x{i + 1:x}0 size=16", file=f)
	END
	# small, but more than is held to be put in order
	for i in 66 67 68; do
		telfilter -q -f tel -o $i.tel $i.text
		rm $i.text
	done
	tar -cf all.tar [0-9]*
	[ "$(telcat -H all.tar | wc -l)" -eq $((66 + 3 * 70000)) ]
}

@test "several files are merged by time, and so are members of an archive" {
	unpack 1.117.0-lii6gc-poolncv two.log
	unpack 1.113.0-lii3gc-amcss three.log
	logs=(mpsio.log two.log three.log)
	for log in "${logs[@]}"; do telcat -H "$log"; done |
	    LC_ALL=C sort -k 1,1 | LC_ALL=C sort >want
	telcat -H "${logs[@]}" >got
	cut -c 1-16 got | LC_ALL=C sort -c
	# labels that come later in a log of one kind may show more of them
	LC_ALL=C sort got | sed 's/\["[^]]*\]//g' |
	    cmp - <(sed 's/\["[^]]*\]//g' want | LC_ALL=C sort)
	tar -cf t.tar "${logs[@]}"
	telcat -H t.tar | cmp got -
	telcat -H - <t.tar | cmp got -
	# equal clocks come in the order of the operands
	telcat -H -S mpsio.log >sorted
	telcat -H mpsio.log mpsio.log | sed -n 'p;n' | cmp sorted -
}

@test "what cannot be read is reported, and the next file is read: exit 1" {
	telcat -H mpsio.log >want
	mkdir folder
	: >empty
	ln -s missing dangling
	head -c 20000 /dev/urandom >random
	printf '\0%.0s' {1..5000} >zeros
	for file in folder empty missing dangling random zeros; do
		run -1 --separate-stderr telcat -H "$file" mpsio.log
		cmp want <(printf '%s\n' "$output")
		echo "$stderr"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "telcat: $file: "* ]]
	done
	expect 1 'telcat: folder: a folder that is not a CTF trace: *' \
	    telcat -H folder
	expect 1 'telcat: empty: no events: the file is empty' telcat -H empty
	expect 1 'telcat: missing: No such file or directory' telcat -H missing
	expect 1 'telcat: random: unknown format*' telcat -H random
	expect 1 'telcat: zeros: unknown format*' telcat -H zeros
	expect 1 'telcat: standard input: no events: the file is empty' \
	    telcat -H </dev/null
}

@test "a file without permission is reported" {
	[ "$(id -u)" -ne 0 ] || skip "root may read everything"
	chmod 0 mpsio.log
	expect 1 'telcat: mpsio.log: Permission denied' telcat -H mpsio.log
}

@test "input that is closed is reported" {
	run -1 --separate-stderr bash -c 'telcat -H <&-'
	[ -z "$output" ]
	[[ $stderr == 'telcat: standard input: '* ]]
}

@test "input that does not block is waited for" {
	local command
	for command in 'telcat -H -' 'telcat -H -n -3 -' 'telfilter -c -' \
	    'telstat -' 'telstat -f json -' 'telreplay --dry-run -'; do
		# shellcheck disable=SC2086
		python3 - $command >got <<-'END'
			import os, subprocess, sys, time
			reader, writer = os.pipe()
			os.set_blocking(reader, False)
			tool = subprocess.Popen(sys.argv[1:], stdin=reader)
			os.close(reader)
			# it has read nothing yet, and waits, or has given up
			stat = f'/proc/{tool.pid}/stat'
			while tool.poll() is None and \
			        f'({sys.argv[1]}) S' not in open(stat).read():
			    time.sleep(0.01)
			with open('mpsio.log', 'rb') as log:
			    os.write(writer, log.read())
			os.close(writer)
			sys.exit(tool.wait())
		END
		$command <mpsio.log >want
		cmp want got
	done
}

@test "a connection that is reset is reported, also where its end is wanted" {
	run -1 --separate-stderr python3 - telcat -H -n -3 <<-'END'
		import os, socket, struct, sys
		server = socket.create_server(('127.0.0.1', 0))
		client = socket.create_connection(server.getsockname())
		peer, _ = server.accept()
		peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
		    struct.pack('ii', 1, 0))
		peer.close()
		os.dup2(client.fileno(), 0)
		os.execvp(sys.argv[1], sys.argv[1:])
	END
	[ "$stderr" = 'telcat: standard input: Connection reset by peer' ]
}

@test "names are escaped in messages" {
	name=$'a\033[31m\nb'
	run -1 --separate-stderr telcat "$name"
	[ "$stderr" = 'telcat: a\x1b[31m\x0ab: No such file or directory' ]
	run -2 --separate-stderr telcat -n "$name"
	[ "$stderr" = "telcat: -n: 'a\\x1b[31m\\x0ab' is not a number of events" ]
}

@test "text is read back from any mix of sort, grep and head" {
	telcat -S -H mpsio.log >sorted
	LC_ALL=C sort want | clean telcat -H >got
	# which labels are known depends on the order, and nothing else does
	unlabel() { LC_ALL=C sort "$1" | sed 's/\["[^]]*"\]//g'; }
	cmp <(unlabel want | sed '/^#/d') <(unlabel got)
	cmp <(unlabel sorted) <(unlabel got)
	grep -v '^#' want | clean telcat | cmp want -
	grep -v 'EventInit\|Label\|Intern' want | clean telcat >got
	grep -v 'EventInit\|Label\|Intern' want | cmp - got
	grep PoolAlloc want | clean telcat -H >got
	grep PoolAlloc want | cmp - got
	head -n 20 want | clean telcat | cmp - <(head -n 20 want)
	tail -n 20 want | clean telcat -H | cmp - <(tail -n 20 want | sed '/^#/d')
	sort -R want | clean telcat -H -S | cut -d' ' -f1,2 |
	    cmp - <(cut -d' ' -f1,2 sorted)
	sed 's/$/\r/' want | clean telcat | cmp want -
}

@test "text of each format that is derived from text is the same" {
	for format in csv json sql mpscnv mpstxt; do
		# sql names the file, its size and its time
		telcat -S -f "$format" mpsio.log | sed /event_log/d >one
		telcat -S -f "$format" want | sed /event_log/d >two
		diff one two
	done
}

@test "the text of mpseventcnv is read, cut and sorted as it may be" {
	telcat -f mpscnv mpsio.log >cnv
	clean telcat -f mpscnv cnv | cmp cnv -
	LC_ALL=C sort cnv | clean telcat -f mpscnv >got
	LC_ALL=C sort cnv | cmp - got
	head -n 50 cnv | clean telcat -f mpscnv | cmp - <(head -n 50 cnv)
	clean telcat -H cnv | sed 's/\["[^]]*"\]//g' >got
	# a double has ten digits in this text
	diff <(sed 's/\["[^]]*"\]//g; /^#/d; /MeterValues/d' want) \
	    <(grep -v MeterValues got)
}

@test "a live pipe is shown as it comes" {
	mkfifo fifo
	# in order of time a flush is shown when it is complete
	telcat --file-order -H fifo >out &
	{
		head -c 2000 mpsio.log
		await has_lines 21 out
		touch came
		tail -c +2001 mpsio.log
	} >fifo
	wait $!
	[ -e came ]
	cmp <(telcat --file-order -H mpsio.log) out
}

@test "a live pipe that is compressed is shown as it comes" {
	mkfifo fifo
	python3 - 2000 <<-'END'
		import sys, zlib
		log, n = open('mpsio.log', 'rb').read(), int(sys.argv[1])
		c = zlib.compressobj(wbits=31)
		open('first.gzip', 'wb').write(c.compress(log[:n]) + c.flush(zlib.Z_SYNC_FLUSH))
		open('rest.gzip', 'wb').write(c.compress(log[n:]) + c.flush())
	END
	for tool in bzip2 xz lz4; do
		head -c 2000 mpsio.log | $tool >first.$tool
		tail -c +2001 mpsio.log | $tool >rest.$tool
	done
	for tool in gzip bzip2 xz lz4; do
		rm -f came
		telcat --file-order -H fifo >out &
		{
			cat first.$tool
			await has_lines 21 out
			touch came
			cat rest.$tool
		} >fifo
		wait $!
		[ -e came ]
		cmp <(telcat --file-order -H mpsio.log) out
	done
}

@test "a live text is shown however short it is" {
	local text=$'# teltools text 1\n# type: A 1 X\n00000000000003E8 A\n'
	mkfifo fifo
	telcat fifo >out &
	{
		printf %s "$text"
		await has_lines 4 out
		touch came
	} >fifo
	wait $!
	[ -e came ]
	tail -n 1 out | grep -qx '00000000000003E8 A'
}

@test "a host or a port that is unknown is reported" {
	expect 1 'telcat: tcp:nohost.invalid:22: No route to host' \
		telcat tcp:nohost.invalid:22
	expect 1 'telcat: tcp:127.0.0.1:nosuch: Invalid argument' \
		telcat tcp:127.0.0.1:nosuch
}

@test "a log that grows is followed from its start, as the README says" {
	# shellcheck disable=SC2016
	local command
	command=$(sed -n 's/^    \(tail .*\) | telcat.*/\1/p' "$TEL_TOP/README.md")
	[ "$command" = 'tail -c +1 -f mpsio.log' ]
	unpack 1.118.0-lii6gc-poolncv whole.log
	head -c 3000 whole.log >mpsio.log
	$command >followed &
	local reader=$!
	await [ -s followed ]
	tail -c +3001 whole.log >>mpsio.log
	await cmp -s whole.log followed
	kill $reader
	[ "$(telcat -H -e PoolAlloc followed | wc -l)" -gt 0 ]
}

@test "a live pipe ends a run as soon as enough is shown" {
	mkfifo fifo
	exec 5<>fifo
	cat mpsio.log >&5
	run -0 timeout 300 telcat -H -n 3 fifo
	[ "${#lines[@]}" -eq 3 ]
	exec 5>&-
}

@test "the time of merged logs is that since the first event of all" {
	for k in 1 5; do
		printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
		    '# type: a 1 K n:unsigned' >log$k
		printf '%016X a n=%d\n' ${k}000 ${k}1 ${k}600 ${k}2 >>log$k
	done
	telcat -f csv -F time,n log5 log1 | diff - <(printf '%s\n' \
	    clock,type,time,n 1000,a,0,11 1600,a,600,12 5000,a,4000,51 \
	    5600,a,4600,52)
	telcat -f csv -F n -t ,4000ns log5 log1 | diff - <(printf '%s\n' \
	    clock,type,n 1000,a,11 1600,a,12 5000,a,51)
	# the log that has no rate is named, whichever it is
	grep -v rate log1 >none
	for logs in 'log5 none' 'none log5'; do
		# shellcheck disable=SC2086 # two names
		run -1 --separate-stderr telcat -T s $logs
		[[ $stderr == 'telcat: none: the log has fewer than two points'* ]]
	done
}
