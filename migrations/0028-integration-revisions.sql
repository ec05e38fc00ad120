-- Raised by every change of the row, so that whoever holds its settings sees that they are no longer current. The number of the
-- transaction that wrote a row tells the same on one server, but not after it was copied to another.
alter table integrations add column revision bigint not null default 0;

create function raise_integration_revision() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  return new;
end
$$;
create trigger integrations_revision before update on integrations for each row
  execute function raise_integration_revision();
