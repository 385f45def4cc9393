import Type from 'typebox'
import { means, Nullable, Time } from '#src/http/schemas.ts'
import { Signature } from '#src/webhooks/endpoints/schemas.ts'
import { type CaseName, probeCases } from './cases.ts'
import { type FaultCode, faults } from './diagnose.ts'

const GradeName = Type.Enum(['A', 'B', 'C', 'D', 'E', 'F'], {
  title: 'ProbeGrade',
  description: 'That of the worst fault; A is a receiver without a fault',
})

export const ProbeReport = Type.Object(
  {
    startedAt: means(Time, 'When the first request was made, in UTC'),
    grade: GradeName,
    profile: means(Signature, 'The profile of the endpoint, with which it was probed'),
    matchingProfile: Nullable(
      Type.Enum(['spec', 'standard', 'both'], {
        description:
          'The profile with which the receiver accepts deliveries; null if it accepts none',
      }),
    ),
    faults: Type.Array(
      Type.Object({
        code: Type.Enum(Object.keys(faults) as FaultCode[], {
          description: 'Names the fault, for programs',
        }),
        grade: means(GradeName, 'The best grade of a receiver with this fault'),
        problem: Type.String({ description: 'What is wrong, for people' }),
        remedy: Type.String({ description: 'What the receiver has to do, for people' }),
      }),
      { description: 'What is wrong with the receiver, the worst first; empty for grade A' },
    ),
    cases: Type.Array(
      Type.Object({
        name: Type.Enum(Object.keys(probeCases) as CaseName[], {
          description: 'Names the case; its delivery has it as `probe`',
        }),
        title: Type.String({ description: 'What was sent, for people' }),
        expected: Type.Enum(['accept', 'refuse'], {
          description: '`accept`: a response with a 2xx status; `refuse`: any other',
        }),
        accepted: Nullable(
          Type.Boolean({ description: 'Null if the request was not made in time' }),
        ),
        statusCode: Nullable(
          Type.Integer({ description: 'Of the response; null if there was none' }),
        ),
        error: Nullable(Type.String({ description: 'Why there was no complete response' })),
        durationMs: Type.Integer({ description: 'Milliseconds until the response or the error' }),
      }),
      { description: 'Every request of the probe, in order' },
    ),
  },
  { title: 'ProbeReport' },
)
