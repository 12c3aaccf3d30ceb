#!/bin/sh
# A specialist in the shell that speaks protocol 1: it counts the lines of each data file and writes them to a CSV file.
#
#     outcrop dispatch --objective "count the lines" --data wines.csv -- sh count_rows.sh

read -r request                                   # one line of JSON on stdin, then end of file

field() {                                         # a text field of the request; jq does this better where it is
    printf '%s' "$request" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}
id=$(field dispatch_id)
workspace=$(field workspace)
results=$(field results_dir)
files=$(printf '%s' "$request" | sed -n 's/.*"data":\["\([^]]*\)"\].*/\1/p' | sed 's/","/\n/g')

say() { printf '%s\n' "$1"; }                     # one JSON object a line on stdout
say "{\"type\":\"started\",\"dispatch_id\":\"$id\",\"pid\":$$}"

table="$results/line_counts_$$.csv"               # the results folder was made before the launch
echo "file,lines" > "$table"
total=0
IFS='
'
for file in $files; do
    say "{\"type\":\"progress\",\"text\":\"counting $file\"}"
    lines=$(awk 'END { print NR }' "$workspace/$file") || exit 3
    echo "$file,$lines" >> "$table"
    total=$((total + lines))
done

say "{\"type\":\"completion\",\"dispatch_id\":\"$id\",\"status\":\"success\",\
\"summary\":\"$total lines\",\"results\":{\"lines\":$total},\
\"artifacts\":[{\"path\":\"$table\",\"kind\":\"table\",\"title\":\"Lines of each file\"}]}"
