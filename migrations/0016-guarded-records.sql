-- An answer that is kept for an Idempotency-Key is given only to a token with the scopes of the first one.
alter table idempotency_keys add column scopes text[] not null default '{}';

-- What the audit log says stays said. Erasing a person, and dropping an organization, go through one named door:
-- a transaction that sets vigil.audit_erasure. It is no defence against the owner of the database, but against our own mistakes.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if current_setting('vigil.audit_erasure', true) = 'on' then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_log_append_only before update or delete on audit_log
  for each row execute function refuse_audit_change();
create trigger audit_log_keep_all before truncate on audit_log
  for each statement execute function refuse_audit_change();
