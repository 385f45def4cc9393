import Type from 'typebox'
import type { TenantApp, TenantPrincipal } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { Problem } from '#src/http/problems.ts'
import { means, NoBody, NoContent, Time, Uuid, UuidParams } from '#src/http/schemas.ts'
import { createPortalLink, endPortalLink, maxLinksPerMinute, maxPortalSessions } from './portal.ts'

const PortalLink = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Uuid, description: 'Names the link and the session it opens' }),
    url: Type.String({
      description:
        'Lead the person there, in a frame or a window. Add `&theme=dark` for a dark page.',
      examples: ['https://app.example.com/portal/open?link=…'],
    }),
    expiresAt: Type.Unsafe<string>({ ...Time, description: 'When it no longer opens' }),
  },
  { title: 'PortalLink' },
)

const LinkParams = Type.Object(
  { ...UuidParams.properties, linkId: means(Uuid, '`id` of the link, as it was returned') },
  { additionalProperties: false },
)

/** Links to the webhook pages of a tenant that the app names, for people without an account here. */
export function portalLinkActions(baseUrl: string) {
  return {
    create: defineAction({
      name: 'createPortalLink',
      rule: { resource: 'portal-link', action: 'create' },
      tag: 'app',
      summary: 'Make a link to the webhook pages of a tenant',
      description: `It works once, within five minutes, and opens a session of one hour that sees the webhooks of this tenant and nothing else: endpoints, deliveries, replays, events and their types. The person needs no account. What is done there is in the audit log of the tenant as done by the app token, with the \`id\` of the link. The session ends with the app token, and when this permission is taken from it; it stays ended if the permission is given back. A browser that opens another link of the app token for the tenant has the new session alone. An app token has at most ${maxPortalSessions} links and sessions in a tenant; one more ends its oldest. 429 after ${maxLinksPerMinute} links for one tenant within a minute.`,
      params: UuidParams,
      body: NoBody,
      result: PortalLink,
      status: 201,
      location: () => null,
      once: false,
      async run({ tx, by }: Acting<TenantPrincipal>) {
        const { id, secret, expiresAt } = await createPortalLink(tx, requireApp(by), by.clientInfo)
        const url = `${baseUrl}/portal/open?${new URLSearchParams({ link: secret })}`
        return { id, url, expiresAt }
      },
    }),
    remove: defineAction({
      name: 'deletePortalLink',
      rule: { resource: 'portal-link', action: 'delete' },
      tag: 'app',
      summary: 'End a link, or the session that it has opened',
      description:
        'For instance when the person signs out of your app. It may be of another app token, because tokens are replaced. A request of the session that is under way ends first.',
      params: LinkParams,
      result: NoContent('The link or session has ended'),
      status: 204,
      run: ({ tx, by }: Acting<TenantPrincipal>, { params }) =>
        endPortalLink(tx, requireApp(by), params.linkId, by.clientInfo),
    }),
  }
}

function requireApp(caller: TenantPrincipal): TenantApp {
  if (!caller.isApp) throw new Problem('forbidden', { reason: 'app-required' })
  return caller
}
