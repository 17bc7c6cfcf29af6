-- The logins of Earshot, and its database. Run once by a superuser, before the first start; one statement per line:
--   psql -v owner_password=… -v runtime_password=… -v account_password=… -f deploy/postgres-roles.sql
-- earshot_owner migrates and drops old days (EARSHOT_MIGRATION_DATABASE_URL), earshot_runtime is the server (EARSHOT_DATABASE_URL),
-- earshot_account sees the rows of one account at a time (EARSHOT_ACCOUNT_DATABASE_URL). What each may do is in the migrations.
create role earshot_owner login password :'owner_password';
create role earshot_runtime login password :'runtime_password';
create role earshot_account login password :'account_password';
create role earshot_rules nologin;
grant earshot_account to earshot_rules;
grant earshot_rules to earshot_runtime;
grant earshot_runtime to earshot_owner;
create database earshot owner earshot_owner;
revoke connect, temporary on database earshot, postgres, template1 from public;
grant connect on database earshot to earshot_owner, earshot_runtime, earshot_account;
