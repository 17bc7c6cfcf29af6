#!/bin/sh
# Run by the image of PostgreSQL when it makes its cluster: the logins of Earshot, with the passwords of compose.yaml.
set -eu
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres \
  --set=owner_password="$OWNER_PASSWORD" --set=runtime_password="$RUNTIME_PASSWORD" \
  --set=account_password="$ACCOUNT_PASSWORD" --file=/earshot/postgres-roles.sql
