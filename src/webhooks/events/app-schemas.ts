import Type from 'typebox'
import { CreatedAt, UpdatedAt } from '#src/http/fields.ts'
import { Problem } from '#src/http/problems.ts'
import { means, Nullable, Text } from '#src/http/schemas.ts'
import { isDeeperThan } from '#src/runtime/json.ts'
import { appTypeName, maxTypeBytes } from './app-types.ts'

export const AppTypeName = Type.String({
  maxLength: 100,
  pattern: appTypeName.source,
  examples: ['report.finished'],
  description: 'Lower-case words divided by full stops, such as `report.finished`',
})

/** Any JSON object. */
export const JsonData = Type.Record(Type.String(), Type.Unknown())

// JSON.stringify and many receivers overflow their stack at some thousand levels.
const maxLevels = 100

/** @throws Problem `malformed` if a body with any JSON in it is nested too deep to be written again */
export function requireShallow(body: object): void {
  if (!isDeeperThan(body, maxLevels)) return
  throw new Problem('malformed', {
    detail: `The body is nested more than ${maxLevels} levels deep.`,
  })
}

const maxTypeKib = maxTypeBytes / 1_024

export const AppTypeChange = Type.Object(
  {
    description: Text(1_000, 'When it is sent, for those who receive it'),
    schema: Type.Optional(
      Nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description: `JSON Schema (draft 7) of \`data\`, at most ${maxTypeKib} KiB; without it every object is accepted`,
        }),
      ),
    ),
    example: Type.Optional(
      Nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description: `\`data\` of an example, at most ${maxTypeKib} KiB`,
        }),
      ),
    ),
  },
  { title: 'EventTypeChange', additionalProperties: false },
)

export const AppType = Type.Object(
  {
    name: Type.String({
      description: 'The `type` of its events',
      examples: ['report.finished'],
    }),
    description: Type.String({ description: 'When it is sent, for those who receive it' }),
    schema: Nullable(
      means(JsonData, 'JSON Schema (draft 7) of `data`; null if every object is accepted'),
    ),
    example: Nullable(means(JsonData, '`data` of an example; null without one')),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  },
  { title: 'AppEventType' },
)
