import Type from 'typebox'
import { Nullable, Time } from '#src/http/schemas.ts'
import { Signature } from '#src/webhooks/endpoints/schemas.ts'
import { type CaseName, probeCases } from './cases.ts'
import { type FaultCode, faults } from './diagnose.ts'

const GradeName = Type.Enum(['A', 'B', 'C', 'D', 'E', 'F'], {
  title: 'ProbeGrade',
  description: 'That of the worst fault; A is a receiver without a fault',
})

export const ProbeReport = Type.Object(
  {
    startedAt: Time,
    grade: GradeName,
    profile: Signature,
    matchingProfile: Nullable(
      Type.Enum(['spec', 'standard', 'both'], {
        description:
          'The profile with which the receiver accepts deliveries; null if it accepts none',
      }),
    ),
    faults: Type.Array(
      Type.Object({
        code: Type.Enum(Object.keys(faults) as FaultCode[]),
        grade: GradeName,
        problem: Type.String(),
        remedy: Type.String(),
      }),
    ),
    cases: Type.Array(
      Type.Object({
        name: Type.Enum(Object.keys(probeCases) as CaseName[]),
        title: Type.String(),
        expected: Type.Enum(['accept', 'refuse'], {
          description: '`accept`: a response with a 2xx status; `refuse`: any other',
        }),
        accepted: Nullable(
          Type.Boolean({ description: 'Null if the request was not made in time' }),
        ),
        statusCode: Nullable(Type.Integer()),
        error: Nullable(Type.String({ description: 'Why there was no complete response' })),
        durationMs: Type.Integer(),
      }),
    ),
  },
  { title: 'ProbeReport' },
)
