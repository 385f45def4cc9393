import { created, defineResource, id, line, owner, tenant, updated } from 'gatehouse'

/** What a person wishes for, in all their tenants together as many as their plan is for. */
export const wishes = defineResource('wish', {
  plural: 'wishes',
  scope: 'owner',
  fields: {
    id: id(),
    tenantId: tenant(),
    userId: owner(),
    title: line(200),
    createdAt: created(),
    updatedAt: updated(),
  },
  actions: {
    read: { permission: null, token: 'wish:read' },
    create: {
      ...{ permission: null, token: 'wish:write', accepts: ['title'] },
      // Two rows of one request need room for two.
      async run({ create }, body) {
        const wish = await create(body)
        return body.title === 'two' ? create(body) : wish
      },
    },
    update: {
      ...{ permission: null, token: 'wish:write', feature: 'second-thoughts', accepts: ['title'] },
    },
    delete: { permission: null, token: 'wish:write' },
  },
})
