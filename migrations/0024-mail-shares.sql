-- Mail domains that devices of an organization may be shared with; none: all.
alter table organizations add column share_domains text[] not null default '{}';

-- Who caused a mail, so that one integration cannot write to a person again and again.
alter table mails add column integration_id uuid;
create index mails_recipient on mails (organization_id, recipient, created_at);
