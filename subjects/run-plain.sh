#!/bin/bash
# Compiles every subject into a temporary directory and runs it without Ravel.
#
#   run-plain.sh [-n RUNS] [JAVA_HOME ...]
#
# Each buggy program runs RUNS times (default 1) and may show its bug in at most one run of twenty. Without a JAVA_HOME
# argument the variable of that name is used, or the java on the PATH. Exit 1 if anything failed.
set -u
cd "$(dirname "$0")" || exit 2
runs=1
while getopts n: option; do
  case $option in
    n) runs=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ]; then
  set -- "${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")}"
fi

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
  echo "FAIL $*"
  failures=$((failures + 1))
}

# The value of a key in a program's first comment.
header() {
  sed -n "1,/\*\//s/^ \*   $2 //p" "$1" | head -1
}

run() { # folder, class, limit in seconds, JVM options
  # In a shell of its own, whose word about a killed program nobody needs.
  (timeout -s KILL "$3" "$home/bin/java" $4 -cp "$classes/$1" "$2" >"$scratch/out" 2>"$scratch/err" <"$scratch/stdin"
    exit $?) 2>/dev/null
}

for home in "$@"; do
  version=$("$home/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/ *java.specification.version = //p')
  classes=$scratch/classes-$version
  count=0
  for folder in events events21 bugs benign faults; do
    release=17
    [ $folder = events21 ] && release=21
    [ "$version" -lt $release ] && continue
    [ -n "$(ls $folder/*.java 2>/dev/null)" ] || continue
    "$home/bin/javac" --release $release -g -nowarn -Xlint:-options -d "$classes/$folder" $folder/*.java 2>"$scratch/err" \
      || { fail "$version $folder does not compile"; cat "$scratch/err"; continue; }
    for file in $folder/*.java; do
      class=$(basename "$file" .java)
      count=$((count + 1))
      : >"$scratch/stdin"
      want=0
      limit=10
      options=
      times=1
      if [ $folder = faults ]; then
        want=$(header "$file" exit)
        options=$(header "$file" jvm)
        if [ "$(header "$file" stdin)" = open ]; then
          rm "$scratch/stdin"
          mkfifo "$scratch/stdin"
          sleep 20 >"$scratch/stdin" &
          holder=$!
        fi
        [ "$want" = killed ] && { want=137; limit=5; }
      fi
      [ $folder = bugs ] && grep -q '^/\* bug:' "$file" && times=$runs
      wrong=0
      for _ in $(seq "$times"); do
        run $folder "$class" $limit "$options"
        code=$?
        if [ $code -ne "$want" ]; then
          wrong=$((wrong + 1))
          echo "$version $folder/$class: exit $code, not $want"
          [ "$times" -eq 1 ] && tail -5 "$scratch/out" "$scratch/err"
        fi
      done
      [ $wrong -gt $((times / 20)) ] && fail "$version $folder/$class: $wrong of $times runs"
      if [ -p "$scratch/stdin" ]; then
        kill "$holder" 2>/dev/null
        rm "$scratch/stdin"
      fi
    done
  done
  echo "JDK $version: $count programs run"
done
[ $failures -eq 0 ] || { echo "$failures failed"; exit 1; }
