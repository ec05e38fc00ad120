-- Mails about alarms to people who asked for them. A reader of live_changes remembers how far it has come, in the transaction
-- that queues the mails: each event is told once.
create table live_readers (
  name text primary key,
  seq bigint not null
);
insert into live_readers (name, seq) values ('alarm_mails', 0);

-- How many a person got within the running hour.
create table alarm_mail_windows (
  user_id uuid primary key references users on delete cascade,
  started_at timestamptz not null,
  count int not null
);
