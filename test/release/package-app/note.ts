import { author, created, defineResource, id, line, tenant, updated } from 'gatehouse'
import Type from 'typebox'

export const notes = defineResource('note', {
  plural: 'notes',
  scope: 'tenant',
  fields: {
    id: id(),
    tenantId: tenant(),
    authorId: author('null after the author has left'),
    title: line(200),
    createdAt: created(),
    updatedAt: updated(),
  },
  actions: {
    read: { permission: 'post:read' },
    create: { permission: 'post:write', accepts: ['title'] },
    update: { permission: 'post:write', accepts: ['title'] },
  },
  events: { updated: 'A note was changed', introduced: 'Somebody has joined' },
  payloads: { introduced: Type.Object({ userId: Type.Integer() }) },
})
