#!/bin/sh
# The PostgreSQL image runs this once, when it creates the database cluster. It creates Earshot's logins with the passwords of compose.yaml.
set -eu
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres \
  --set=owner_password="$OWNER_PASSWORD" --set=runtime_password="$RUNTIME_PASSWORD" \
  --set=account_password="$ACCOUNT_PASSWORD" --file=/earshot/postgres-roles.sql
