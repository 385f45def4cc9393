import Type from 'typebox'
import type { SessionCaller } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { means, Nullable, PageOf, Time, Uuid, UuidParams } from '#src/http/schemas.ts'
import { findOwnSession, listSessions, sessionList } from './list.ts'

const Session = Type.Object(
  {
    id: Type.String({ ...Uuid, description: 'Id of the session, not the value of the cookie' }),
    current: Type.Boolean({ description: 'True for the session of this request' }),
    createdAt: means(Time, 'When you signed in, in UTC'),
    lastSeenAt: means(Time, 'When its latest request came, to the minute'),
    userAgent: Nullable(
      Type.String({ description: '`User-Agent` of the sign-in; null if the browser sent none' }),
    ),
    ip: Nullable(Type.String({ description: 'The network part of the address' })),
  },
  { title: 'Session' },
)

const tag = 'account'

/**
 * The operations that read the caller's sessions; ending one also changes the cookie of the request.
 * @param idleSeconds a session that was not used for this long has ended
 */
export function sessionActions(idleSeconds: number) {
  return {
    list: defineAction({
      name: 'listSessions',
      rule: { resource: 'session', action: 'read' },
      tag,
      summary: 'Your live sessions, newest first',
      list: sessionList,
      result: PageOf(Session),
      run: ({ tx, by }: Acting<SessionCaller>, { page }) => listSessions(tx, by, idleSeconds, page),
    }),
    get: defineAction({
      name: 'getSession',
      rule: { resource: 'session', action: 'read' },
      tag,
      summary: 'One of your live sessions',
      params: UuidParams,
      result: Session,
      run: ({ tx, by }: Acting<SessionCaller>, { params }) =>
        findOwnSession(tx, by, idleSeconds, params.id),
    }),
  }
}
