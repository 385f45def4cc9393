import t from 'tap'
import { defineApp } from '#src/resources/define-app.ts'
import { defineResource } from '#src/resources/kit/define.ts'
import { rulesOf } from '#src/resources/kit/derived.ts'
import { folder } from '#src/resources/kit/fields/keys/folder.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { created } from '#src/resources/kit/fields/times/timestamp.ts'
import { anyOf, fieldIs, havePlan } from '#src/resources/kit/visible.ts'
import { entitlementsIn, type Plans } from '#src/resources/plans.ts'

const fields = { id: id(), title: line(200), createdAt: created() }
const permission = 'post:read'
const read = { permission } as const
const create = { permission, accepts: ['title'] } as const

function taskWith(change: object) {
  const declaration = { plural: 'tasks', scope: 'tenant', fields, actions: { read, create } }
  return defineResource('task', { ...declaration, ...change } as never)
}

function faultOf(plans: Plans, change: object = {}): string | null {
  try {
    defineApp({ name: 'acme', resources: [taskWith(change)], plans })
    return null
  } catch (error) {
    return String(Object(error).message)
  }
}

t.test('the plans of an app are consistent', async (t) => {
  const asks = (action: object) => ({ actions: { read: { ...read, ...action } } })
  t.equal(faultOf({}), null)
  t.equal(
    faultOf({ free: { limits: { tasks: 0 } }, pro: { limits: { tasks: 'unlimited' } } }),
    null,
  )
  t.equal(faultOf({ pro: { features: ['export'] } }, asks({ feature: 'export' })), null)
  t.equal(faultOf({}, asks({ plan: 'pro' })), null, 'without plans any is asked for')
  const limited = { free: { limits: { tasks: 3 } } }
  for (const [plans, change, fault] of [
    [{ Pro: {} }, {}, /^The plan Pro has a name that BILLING_PLANS cannot have/],
    [{ ...limited, pro: {} }, {}, /^The plan pro says nothing of the limit tasks/],
    [{ pro: { limits: { tasks: 3 } } }, {}, /^The plan free says nothing of the limit tasks/],
    [{ free: { limits: { tasks: 1.5 } } }, {}, /^The plan free has the limit 1.5 of tasks/],
    [{ free: { limits: { tasks: -1 } } }, {}, /^The plan free has the limit -1 of tasks/],
    [{ free: { limits: { task: 3 } } }, {}, 'The plans limit task, which is no resource.'],
    [limited, { actions: { read } }, 'The plans limit tasks, which no action creates.'],
    [limited, { forServices: true }, /^The plans limit tasks, which is for services/],
    [
      limited,
      { visible: fieldIs('title', 'x') },
      /^The plans limit tasks, which people see in part/,
    ],
    [
      limited,
      {
        ...{ scope: 'chain', fields: { ...fields, folderId: folder() } },
        actions: { read, create: { permission, accepts: ['title', 'folderId'] } },
      },
      /^The plans limit tasks, which people see in part/,
    ],
    [
      { pro: { features: ['export'] } },
      asks({ feature: 'exports' }),
      'The resource task needs the feature exports for read, which no plan has. Give it to a plan.',
    ],
    [{ pro: {} }, asks({ plan: 'prp' }), /^The resource task needs the plan prp for read/],
    [
      { pro: {} },
      { visible: anyOf(havePlan('free', 'pro'), havePlan('prp')) },
      'The resource task is seen with the plan prp, which the app does not have. Add it to plans, or name another one.',
    ],
  ] as const) {
    t.match(faultOf(plans as Plans, change), fault)
  }
})

t.test('an action asks for a plan or for a feature, and never of a service', async (t) => {
  const actions = (asked: object) => ({ actions: { read: { ...read, ...asked } } })
  t.throws(() => taskWith(actions({ plan: 'pro', feature: 'export' })), {
    message: /^The resource task needs a plan and a feature/,
  })
  t.throws(() => taskWith({ ...actions({ feature: 'export' }), forServices: true }), {
    message: 'The resource task needs a plan, and is for services, which have none.',
  })
  const task = taskWith(actions({ feature: 'export' }))
  const declared = { free: {}, pro: { features: ['export'] }, team: { features: ['export'] } }
  t.match(rulesOf([task], declared), [{ plans: ['pro', 'team'], feature: 'export' }])
})

t.test('every plan has its features and limits, and free is always one', async (t) => {
  t.strictSame([...entitlementsIn()], [['free', { features: [], limits: {} }]])
  const declared: Plans = { pro: { features: ['export'], limits: { tasks: 'unlimited' } } }
  t.strictSame(
    [...entitlementsIn(declared)],
    [
      ['free', { features: [], limits: {} }],
      ['pro', { features: ['export'], limits: { tasks: null } }],
    ],
  )
})
