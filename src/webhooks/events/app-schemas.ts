import Type from 'typebox'
import { Nullable, Text, Time } from '#src/http/schemas.ts'
import { appTypeName } from './app-types.ts'

export const AppTypeName = Type.String({
  maxLength: 100,
  pattern: appTypeName.source,
  examples: ['report.finished'],
  description: 'Lower-case words divided by full stops, such as `report.finished`',
})

/** Any JSON object. */
export const JsonData = Type.Record(Type.String(), Type.Unknown())

export const AppTypeChange = Type.Object(
  {
    description: Text(1_000),
    schema: Type.Optional(
      Nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'JSON Schema (draft 7) of `data`; without it every object is accepted',
        }),
      ),
    ),
    example: Type.Optional(
      Nullable(Type.Record(Type.String(), Type.Unknown(), { description: '`data` of an example' })),
    ),
  },
  { title: 'EventTypeChange', additionalProperties: false },
)

export const AppType = Type.Object(
  {
    name: Type.String({ examples: ['report.finished'] }),
    description: Type.String(),
    schema: Nullable(JsonData),
    example: Nullable(JsonData),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'AppEventType' },
)
