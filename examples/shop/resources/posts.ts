import {
  author,
  authorService,
  created,
  defineResource,
  id,
  initially,
  line,
  optional,
  tenant,
  text,
  updated,
} from 'gatehouse'
import { ofAnotherDepartment, outsideOfficeHours } from './conditions.ts'

/** Texts of a tenant. */
export const posts = defineResource('post', {
  plural: 'posts',
  scope: 'tenant',
  forServices: true,
  fields: {
    id: id(),
    tenantId: tenant(),
    authorId: author(
      'The member who wrote it, by id; null after they have left, or if it was a service',
    ),
    authorServiceId: authorService(),
    department: initially(
      optional(line(100, 'Editors of this department may change it')),
      ({ department }) => department,
    ),
    title: line(200, 'What it is about'),
    body: text(50_000, 'The text itself, as it was written'),
    createdAt: created(),
    updatedAt: updated(),
  },
  filters: ['authorId', 'department'],
  search: ['title'],
  actions: {
    read: { permission: 'post:read' },
    create: {
      permission: 'post:write',
      accepts: ['title', 'body', 'department'],
      description: 'Without `department` the post has yours.',
    },
    update: {
      permission: 'post:write',
      accepts: ['title', 'body'],
      unless: [ofAnotherDepartment, outsideOfficeHours],
      description:
        'An editor may change posts of their own department, from 09:00:00 until before 17:00:00 UTC; otherwise 403.',
    },
    delete: { permission: 'post:delete' },
  },
  events: {
    updated: 'A post was changed',
    deleted: 'A post was deleted; `data` is its last state',
  },
  page: {
    label: 'Posts',
    lead: 'Everybody in the tenant can read them.',
    heading: 'title',
    columns: ['department', 'updatedAt'],
    labels: { body: 'Text' },
    create: { heading: 'Write a post', button: 'Publish post' },
  },
})
