// What the stand-in's agent says and does: plain scenes in the wire's vocabulary.
const pause = (ms) => ['pause', ms]
const words = (text) => text.match(/\S+\s*|\s+/g) ?? []

const report = `Here is what I found. The workspace has **three files**, and the script runs in well under a second.

| file | size | what it is |
|---|---:|---|
| \`primes.py\` | 412 B | sieve of Eratosthenes |
| \`report.md\` | 1.2 kB | the findings, in words |
| \`prices.csv\` | 96 B | numbers for the table |

The heart of it is short:

\`\`\`python
def primes(limit: int) -> list[int]:
    """All primes below the limit."""
    sieve = bytearray([1]) * limit
    for number in range(2, int(limit**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(range(number * number, limit, number)))
    return [n for n in range(2, limit) if sieve[n]]
\`\`\`

1. It needs one byte a number.
2. It touches each composite once per prime factor.

> Larger limits want a segmented sieve. Say so if you need one.
`

export const script = `def primes(limit: int) -> list[int]:
    """All primes below the limit."""
    sieve = bytearray([1]) * limit
    for number in range(2, int(limit**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(range(number * number, limit, number)))
    return [n for n in range(2, limit) if sieve[n]]


print(len(primes(1_000_000)))
`

export const files = {
  'primes.py': script,
  'report.md': report,
  'prices.csv': 'day,open,close\n"Mon, 2nd",12.5,13.1\n"Tue, 3rd",13.1,12.9\n"Wed, 4th",12.9,14.2\n',
  'data/notes.txt': 'Nothing much.\n',
}

const tool = (id, name, args, phrase, result, output = []) => [
  [
    'event',
    {
      type: 'tool.called',
      call_id: id,
      name,
      arguments: args,
      phrase,
      parent_call_id: null,
      dangerous: false,
      read_only: false,
      turn: 0,
      seen_seq: 0,
    },
  ],
  pause(200),
  ...output.flatMap((text) => [['output', id, text], pause(250)]),
  pause(300),
  [
    'event',
    {
      type: 'tool.finished',
      call_id: id,
      success: true,
      preview: '',
      body: null,
      duration_ms: 740,
      display: null,
      ...result,
    },
  ],
]
const say = (text, speed = 18) => [
  ['message'],
  ...words(text).flatMap((word) => [['delta', word], pause(speed)]),
  ['complete'],
]

const tour = [
  ['thinking', 'The user wants a small program. I write it, run it, and show the result in the browser.'],
  ...say('I will write a small script, run it and look at the result in the browser.'),
  ['sandbox', 'starting'],
  pause(900),
  ['sandbox', 'ready'],
  ...tool('c1', 'file_write', { path: 'primes.py', content: script }, 'Writing primes.py', {
    display: { type: 'file', path: 'primes.py', operation: 'write', size: 412, entries: null },
    preview: 'Wrote 412 bytes to primes.py',
    duration_ms: 12,
  }),
  ['event', { type: 'files.changed', paths: ['primes.py'], origin: 'agent' }],
  ...tool(
    'c2',
    'shell_exec',
    { command: 'python3 primes.py && ls -la' },
    'Running python3 primes.py && ls -la',
    {
      display: {
        type: 'shell',
        command: 'python3 primes.py && ls -la',
        shell: 'main',
        exit_code: 0,
        cwd: '/workspace',
      },
      preview:
        '78498\ntotal 16\n-rw-r--r-- 1 agent agent  412 Nov 21 22:01 primes.py\n-rw-r--r-- 1 agent agent 1228 Nov 21 22:01 report.md\n',
      duration_ms: 1840,
    },
    ['78498\n', 'total 16\n', '-rw-r--r-- 1 agent agent  412 Nov 21 22:01 primes.py\n'],
  ),
  ...tool('c3', 'browser_navigate', { url: 'https://example.org/' }, 'Opening https://example.org/', {
    display: {
      type: 'browser',
      url: 'https://example.org/',
      title: 'Example Domain',
      action: 'navigate',
      image: null,
      image_media_type: null,
    },
    body: { size: 40000, media_type: 'image/png' },
    duration_ms: 2210,
  }),
  ...tool('c4', 'file_edit', { path: 'primes.py', old: '1_000_000', new: '10_000' }, 'Editing primes.py', {
    display: {
      type: 'diff',
      path: 'primes.py',
      diff: '--- a/primes.py\n+++ b/primes.py\n@@ -8,3 +8,3 @@\n \n \n-print(len(primes(1_000_000)))\n+print(len(primes(10_000)))\n',
    },
    preview: 'Replaced 1 place',
    duration_ms: 9,
  }),
  ...tool('c5', 'web_search', { query: 'segmented sieve' }, 'Searching the web for segmented sieve', {
    success: false,
    preview: 'No search provider can be reached from here. Set TAVILY_API_KEY or try again later.',
    duration_ms: 3010,
  }),
  ...say(report),
  ['end', 'completed', null, ['primes.py', 'report.md']],
]
const failing = [
  ...say('Let me look at that.'),
  pause(300),
  ['end', 'failed', 'the model answered 429 (too many requests)', []],
]
const slow = [
  ...say('I will wait a minute.'),
  ['sandbox', 'ready'],
  [
    'event',
    {
      type: 'tool.called',
      call_id: 's1',
      name: 'shell_exec',
      arguments: { command: 'sleep 60' },
      phrase: 'Running sleep 60',
      parent_call_id: null,
      dangerous: false,
      read_only: false,
      turn: 0,
      seen_seq: 0,
    },
  ],
  pause(60_000),
  [
    'event',
    { type: 'tool.finished', call_id: 's1', success: true, preview: '', body: null, duration_ms: 60000, display: null },
  ],
  ['end', 'completed', null, []],
]
const long = [...say(Array.from({ length: 40 }, () => report).join('\n\n'), 4), ['end', 'completed', null, []]]

export function sceneFor(text) {
  if (/fail/i.test(text)) return failing
  if (/sleep/i.test(text)) return slow
  if (/long/i.test(text)) return long
  return tour
}
