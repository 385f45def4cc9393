import t from 'tap'
import { runOnRowLevelSecurity } from './matrix/row-level-security.ts'

t.test('row-level security alone hides every foreign object', (t) => runOnRowLevelSecurity(t))
