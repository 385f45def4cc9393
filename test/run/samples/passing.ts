import t from 'tap'

t.pass('beside the one that hangs')
