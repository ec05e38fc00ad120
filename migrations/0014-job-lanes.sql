-- The jobs of an organization by their due time: organizations take turns, and a claim looks at the first jobs of each.
create index mails_lane on mails (organization_id, next_attempt_at) where status = 'queued';
drop index mails_due;
create index place_jobs_lane on place_jobs (kind, organization_id, due_at);
create index messages_speech_lane on messages (organization_id, speech_due_at) where speech_due_at is not null;
drop index messages_speech;
