#!/bin/sh
# Writes .env, the settings of docker-compose.yml, from deploy/example.env, with a new password for each line
# that has none. Keeps an .env that exists.
set -eu
cd "$(dirname "$0")/.."
keep() {
  echo ".env exists and is kept. Its passwords are those of the data: remove it only together with the volumes." >&2
  exit 1
}
if [ -e .env ]; then keep; fi
umask 077
draft=$(mktemp .env.draft.XXXXXX)
trap 'rm -f "$draft"' EXIT
# Some shells end without the line above.
trap 'exit 1' HUP INT TERM
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    [A-Z]*=) line=$line$(od -An -v -N24 -tx1 /dev/urandom | tr -d ' \n') ;;
  esac
  printf '%s\n' "$line"
done < deploy/example.env > "$draft"
# Unlike mv, neither replaces the .env that another run has made meanwhile. Not every file system has links.
ln "$draft" .env 2>/dev/null || (set -C && cat "$draft" > .env) || keep
echo "Wrote .env. Next: docker compose up --detach --wait" >&2
