import t from 'tap'
import { readEndpointUrl, type UrlRefusal } from '#src/webhooks/client/url.ts'

const read = (text: string, allow: readonly string[] = []) => {
  const read = readEndpointUrl(text, allow)
  return 'url' in read ? read.url.href : read.refused
}

const longest = `https://hooks.example.com/${'a'.repeat(2_022)}`

t.test('a public https URL is normalized', async (t) => {
  const accepted: readonly (readonly [text: string, href: string])[] = [
    ['https://hooks.example.com/in', 'https://hooks.example.com/in'],
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['https://hooks.example.com:443/in?a=b', 'https://hooks.example.com/in?a=b'],
    ['https://hooks.example.com:8443/', 'https://hooks.example.com:8443/'],
    ['HTTPS://Hooks.EXAMPLE.com/In', 'https://hooks.example.com/In'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://hooks。example。com/', 'https://hooks.example.com/'],
    ['https://hooks.example.com/a/../b', 'https://hooks.example.com/b'],
    ['https:\\\\hooks.example.com\\in', 'https://hooks.example.com/in'],
    ['https://notlocal.example/', 'https://notlocal.example/'],
    ['https://a.mylocal/', 'https://a.mylocal/'],
    ['https://93.184.215.14/', 'https://93.184.215.14/'],
    ['https://1572394766/', 'https://93.184.215.14/'],
    ['https://[2606:4700:0:0::1111]/', 'https://[2606:4700::1111]/'],
    [longest, longest],
  ]
  for (const [text, href] of accepted) t.equal(read(text), href, text)
})

const refusals: Readonly<Record<UrlRefusal, readonly string[]>> = {
  malformed: [
    '',
    'hooks.example.com',
    '//hooks.example.com/',
    'https://',
    'https:// hooks.example.com/',
    ' https://hooks.example.com/',
    'https://hooks.example.com/\n',
    'ht\ttps://hooks.example.com/',
    'https://hooks.example.com/\u00a0',
    'https://hooks.example.com/\0',
    'https://hooks.example.com:99999/',
    'https://hooks.example.com:port/',
    'https://exa%00mple.com/',
    'https://a.256.256.256.256/',
    'https://1.2.3.4.5/',
    'https://[::1/',
    'https://[fe80::1%25eth0]/',
    'https://[2606:4700::1111%eth0]/',
  ],
  'too-long': [
    `https://hooks.example.com/${'a'.repeat(2_048)}`,
    `https://hooks.example.com/${'a'.repeat(2_023)}`,
    `https://hooks.example.com/${'ü'.repeat(1_000)}`, // longer once escaped
    `https://hooks.example.com/${'./'.repeat(1_100)}`, // shorter once resolved
  ],
  scheme: [
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'gopher://hooks.example.com/',
    'ws://hooks.example.com/',
    'blob:https://hooks.example.com/',
    'http://127.0.0.1:4000/',
  ],
  credentials: [
    'https://user@hooks.example.com/',
    'https://user:secret@hooks.example.com/',
    'https://:secret@hooks.example.com/',
    'https://hooks.example.com@10.0.0.1/',
  ],
  fragment: ['https://hooks.example.com/#a', 'https://hooks.example.com/#'],
  port: [
    'https://hooks.example.com:80/',
    'https://hooks.example.com:0/',
    'https://hooks.example.com:4430/',
    'https://hooks.example.com:22/',
    'https://127.0.0.1:9464/',
    'https://hooks.example.com:08442/',
  ],
  name: [
    'https://localhost/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://intranet/',
    'https://app.localhost/',
    'https://app.localhost./',
    'https://printer.local/',
    'https://PRINTER.LOCAL/',
    'https://printer.local/',
    'https://printer。local/',
    'https://metadata.google.internal/',
    'https://db.svc.cluster.local/',
    'https://nas.home.arpa/',
    'https://nas.home.arpa./',
    'https://hooks.example.com./',
    'https://%6c%6f%63%61%6c%68%6f%73%74/',
  ],
  address: [
    'https://127.0.0.1/',
    'https://127.0.0.1:8443/',
    'https://127.1/',
    'https://127.0.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0X7F.0.0.1/',
    'https://0x7f.1/',
    'https://017700000001/',
    'https://0177.0.0.01/',
    'https://127.0.0.1./',
    'https://１２７.０.０.１/',
    'https://①②⑦.0.0.1/',
    'https://127。0。0。1/',
    'https://%31%32%37.0.0.1/',
    'https://0/',
    'https://0.0.0.0/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://0xa9fea9fe/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[0:0:0:0:0:ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::8.8.8.8]/',
    'https://[64:ff9b:1::1]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://[2002:7f00:1::]/',
  ],
}

t.test('everything else is refused, in any spelling', async (t) => {
  for (const [refusal, texts] of Object.entries(refusals)) {
    for (const text of texts) t.equal(read(text), refusal, JSON.stringify(text.slice(0, 60)))
  }
})

t.test(
  'exact host:port pairs are exempt from the rules for scheme, port and address',
  async (t) => {
    const allow = ['127.0.0.1:4000', 'receiver:80', 'localhost:443', '[::1]:4000']
    const accepted: readonly (readonly [text: string, href: string])[] = [
      ['http://127.0.0.1:4000/in', 'http://127.0.0.1:4000/in'],
      ['https://127.0.0.1:4000/in', 'https://127.0.0.1:4000/in'],
      ['http://127.1:4000/', 'http://127.0.0.1:4000/'],
      ['http://receiver/', 'http://receiver/'],
      ['https://LOCALHOST/', 'https://localhost/'],
      ['http://[0::1]:4000/', 'http://[::1]:4000/'],
    ]
    for (const [text, href] of accepted) t.equal(read(text, allow), href, text)
    const refused: readonly (readonly [text: string, refusal: UrlRefusal])[] = [
      ['http://127.0.0.1:4001/', 'scheme'],
      ['https://127.0.0.1:4001/', 'port'],
      ['http://127.0.0.2:4000/', 'scheme'],
      ['https://127.0.0.1/', 'address'],
      ['https://receiver/', 'name'],
      ['http://localhost/', 'scheme'],
      ['ftp://127.0.0.1:4000/', 'scheme'],
      ['http://a@127.0.0.1:4000/', 'credentials'],
      ['http://127.0.0.1:4000/#a', 'fragment'],
    ]
    for (const [text, refusal] of refused) t.equal(read(text, allow), refusal, text)
  },
)
