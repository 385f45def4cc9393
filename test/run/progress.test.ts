import t from 'tap'
import { trackProgress } from './progress.ts'

const batch = 'dist/tests-1/001-test-billing.mjs'

t.test('a batch and a file that runs alone are shown while they run', async (t) => {
  const clock = { ms: 0 }
  const failures: string[] = []
  const progress = trackProgress(3, {
    failed: (text) => failures.push(text),
    now: () => clock.ms,
  })
  const several = progress.program(batch)
  const alone = progress.program('test/app.test.ts')
  clock.ms = 2_000
  const lines = (program: typeof alone, text: string) => {
    for (const line of text.split('\n')) program.line(line)
  }
  lines(several, '# Subtest: test/orders.test.ts\n    ok 1 - read')
  t.equal(
    progress.summary(),
    '0 of 3 files, 1 passed, 0 failed, 2 s, longest now: test/app.test.ts 2 s',
  )
  lines(
    several,
    '    # TEST_SEED=7 RUNS=1\n    not ok 2 - kept\n      ---\n      diff: 1\n      ...',
  )
  t.strictSame(failures, [
    'test/orders.test.ts\n  not ok 2 - kept\n  diff: 1\n' +
      'To repeat it: TEST_SEED=7 npm test -- test/orders.test.ts',
  ])
  lines(several, '    1..2\nnot ok 1 - test/orders.test.ts\n# Subtest: test/posts.test.ts')
  lines(alone, 'not ok 1 - built')
  alone.end()
  t.match(failures.at(-1), /^not ok 1 - built\nTo repeat it: npm test -- test\/app\.test\.ts$/)
  clock.ms = 5_000
  t.equal(
    progress.summary(),
    '2 of 3 files, 1 passed, 2 failed, 5 s, longest now: test/posts.test.ts 3 s',
  )
  several.end()
})

t.test('a test that ends without an assertion is the failure of its file', async (t) => {
  const failures: string[] = []
  const { program } = trackProgress(1, { failed: (text) => failures.push(text), now: () => 0 })
  const { line, end } = program(batch)
  line('# Subtest: test/killed.test.ts')
  line('not ok 1 - test/killed.test.ts')
  end()
  t.strictSame(failures, [
    'not ok 1 - test/killed.test.ts\nTo repeat it: npm test -- test/killed.test.ts',
  ])
})

t.test('a test of an imported file belongs to the file of the batch, and is no file', async (t) => {
  const failures: string[] = []
  const progress = trackProgress(1, { failed: (text) => failures.push(text), now: () => 0 })
  const { line, end } = progress.program(batch)
  line('# Subtest: test/on-app.test.ts')
  line('ok 1 - test/on-app.test.ts')
  line('# Subtest: every route')
  line('    not ok 1 - refused')
  line('not ok 2 - every route')
  end()
  t.match(failures, [/not ok 1 - refused\nTo repeat it: npm test -- test\/on-app\.test\.ts$/])
  t.match(progress.summary(), '1 of 1 files')
})
