import t from 'tap'
import { createReceiver, openMessage, sealMessage } from '#src/crypto/sealed-message.ts'

t.test('only the receiver opens a message, and only unchanged', async (t) => {
  const receiver = createReceiver()
  const sealed = sealMessage(receiver.publicKey, 'gth_secret')
  t.equal(openMessage(receiver, sealed), 'gth_secret')
  t.not(sealMessage(receiver.publicKey, 'gth_secret'), sealed)
  t.equal(openMessage(createReceiver(), sealed), null)
  const bytes = Buffer.from(sealed, 'base64url')
  for (const index of bytes.keys()) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(index) ^ 1, index)
    t.equal(openMessage(receiver, changed.toString('base64url')), null)
  }
  for (const wrong of ['', 'x', sealed.slice(0, 60)]) t.equal(openMessage(receiver, wrong), null)
})
