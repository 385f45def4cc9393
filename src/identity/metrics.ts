import { Counter, type Registry } from 'prom-client'

export type IdentityMetrics = ReturnType<typeof createIdentityMetrics>

/** The numbers of sign-ins and of the sessions they lead to. */
export function createIdentityMetrics(registry: Registry) {
  const registers = [registry]
  const sessionsEnded = new Counter({
    name: 'gatehouse_sessions_ended_total',
    help: 'Sessions ended by what somebody did, by reason; those that ran out are not among them',
    labelNames: ['reason'],
    registers,
  })
  // A counter that is there at zero can be alerted on before it first moves.
  for (const reason of endReasons) sessionsEnded.inc({ reason }, 0)
  return {
    sessionsEnded,
    signIns: new Counter({
      name: 'gatehouse_sign_ins_total',
      help: 'Sign-ins, links and re-authentications by configured provider, outcome (done, refused, unavailable, failed) and the reason code of the audit log',
      labelNames: ['provider', 'purpose', 'outcome', 'reason'],
      registers,
    }),
  }
}

const endReasons = ['sign-out', 'own-request', 'others-ended', 'provider-request'] as const
