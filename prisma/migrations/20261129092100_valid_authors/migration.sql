-- Reads the posts once. Only other changes of the schema wait for it.

ALTER TABLE "posts" VALIDATE CONSTRAINT "posts_tenant_id_author_id_fkey";
