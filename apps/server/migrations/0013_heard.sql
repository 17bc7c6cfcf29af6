-- Forward only. A later change is a new file; this one never changes again.

-- The last byte of the stream. A stream that went silent is found after some 25 s; who dies before that has proven a
-- time in which nothing was heard, so what it leaves open ends here.
alter table coverage add column heard_until timestamptz;
