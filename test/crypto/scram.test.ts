import t from 'tap'
import { scramVerifier } from '#src/crypto/scram.ts'

t.test('the verifier is that of the exchange in RFC 7677', async (t) => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64')
  t.equal(
    scramVerifier('pencil', salt),
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  )
})

t.test('every verifier has a salt of its own', async (t) => {
  t.not(scramVerifier('pencil'), scramVerifier('pencil'))
})

t.test('texts that SASLprep makes equal have one verifier', async (t) => {
  const salt = new Uint8Array(16)
  t.equal(scramVerifier('a\u00A0b\u00ADc', salt), scramVerifier('a bc', salt))
  t.equal(scramVerifier('\u2168', salt), scramVerifier('IX', salt))
})
