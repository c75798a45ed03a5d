// A stand-in that speaks the gateway's wire contract from memory, for work on the page alone. Never shipped.
// PORT (8000), AUTH_MODE (local | password), VNC_PORT (a local RFB server to show as the desktop), SHOT (a PNG for screenshots).
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { WebSocketServer } from 'ws'
import { files, sceneFor } from './scenes.mjs'

const port = Number(process.env.PORT ?? 8000)
const mode = process.env.AUTH_MODE ?? 'local'
const sessions = new Map()
const feeds = new Set()
const users = new Set()
const now = () => new Date().toISOString()
const usage = { input: 1840, cached: 0, output: 412, thinking: 0, cost: null, by_model: {} }
const models = [
  { id: 'demo', label: 'Demo', provider: 'demo', is_demo: true, is_default: true, context_window: 200000, notes: [] },
]

function createSession(title = '') {
  const session = {
    view: {
      id: randomUUID(),
      title,
      status: 'idle',
      model: null,
      options: {},
      pinned: false,
      archived: false,
      created_at: now(),
      updated_at: now(),
      last_seq: 0,
    },
    events: [],
    readers: new Set(),
    open: new Map(),
    bodies: new Map(),
    sandbox: { status: 'none', reason: null, retryable: false, has_desktop: true, expires_at: null },
    stop: null,
    sent: new Map(),
    files: {},
  }
  sessions.set(session.view.id, session)
  return session
}
const frame = (event) =>
  `${event.seq === null ? '' : `id: ${event.seq}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

function emit(session, fields, stored = true) {
  const event = {
    seq: stored ? session.events.length + 1 : null,
    at: now(),
    session_id: session.view.id,
    run_id: null,
    ...fields,
  }
  if (stored) {
    session.events.push(event)
    session.view.last_seq = event.seq
  }
  for (const reader of session.readers) reader.write(frame(event))
  if (/^(session|run)\.|message\.user/.test(event.type)) for (const feed of feeds) feed.write(frame(event))
  return event
}
function update(session, fields) {
  Object.assign(session.view, fields, { updated_at: now() })
  emit(session, { type: 'session.updated', title: null, status: null, model: null, options: null, ...fields })
}

async function run(session, text, messageId) {
  const runId = randomUUID()
  let stopped = false
  let wake = () => undefined
  session.stop = () => {
    stopped = true
    wake()
  }
  const wait = (ms) =>
    new Promise((resolve) => {
      wake = resolve
      setTimeout(resolve, ms)
    })
  const send = (fields, stored) => emit(session, { run_id: runId, ...fields }, stored)
  send({ type: 'run.queued', run_id: runId, message_id: messageId })
  send({ type: 'run.started', run_id: runId, message_id: messageId, model: 'demo', worker: 'stand-in', attempt: 1 })
  update(session, { status: 'running', ...(session.view.title ? {} : { title: text.slice(0, 40) }) })
  const points = (value) => [...value].length
  let message = null
  const outputs = {}
  const finish = (status, reason, made) =>
    send({
      type: 'run.finished',
      run_id: runId,
      status,
      reason,
      retryable: status === 'failed',
      usage,
      files: made,
      duration_ms: 8430,
    })
  const complete = (partial) => {
    session.open.delete(message.id)
    send({ type: 'message.completed', message_id: message.id, text: message.text, turn: 0, partial, seen_seq: 0 })
    message = null
  }
  await wait(500)
  for (const [kind, first, second, third] of sceneFor(text)) {
    if (stopped) break
    if (kind === 'pause') await wait(first)
    else if (kind === 'message') session.open.set((message = { id: randomUUID(), text: '' }).id, message)
    else if (kind === 'delta') {
      send({ type: 'message.delta', message_id: message.id, offset: points(message.text), text: first }, false)
      message.text += first
    } else if (kind === 'complete') complete(false)
    else if (kind === 'thinking')
      send({
        type: 'thinking.completed',
        message_id: randomUUID(),
        text: first,
        effort: null,
        duration_ms: 2300,
        turn: 0,
        signature: null,
      })
    else if (kind === 'output') {
      outputs[first] ??= 0
      send({ type: 'tool.output', call_id: first, offset: outputs[first], text: second }, false)
      outputs[first] += points(second)
    } else if (kind === 'sandbox') {
      session.sandbox.status = first
      if (first === 'ready') Object.assign(session.files, files)
      send({ type: 'sandbox.updated', status: first, reason: null, expires_at: null, has_desktop: true })
    } else if (kind === 'event') send(first)
    else if (kind === 'end') finish(first, second, third)
  }
  if (stopped) {
    if (message) complete(true)
    finish('stopped', null, [])
  }
  session.stop = null
  update(session, { status: 'idle' })
}

function entries(session, folder) {
  const found = new Map()
  for (const [path, content] of Object.entries(session.files)) {
    if (folder && !path.startsWith(`${folder}/`)) continue
    const [name, ...rest] = path.slice(folder ? folder.length + 1 : 0).split('/')
    const full = folder ? `${folder}/${name}` : name
    found.set(name, {
      path: full,
      name,
      size: rest.length ? 0 : Buffer.byteLength(content),
      modified_at: now(),
      is_dir: rest.length > 0,
    })
  }
  return [...found.values()]
}
const grant = (username) => ({
  access_token: `a.${username}`,
  refresh_token: `r.${username}`,
  token_type: 'bearer',
  expires_in: 3600,
  user: { id: username, username, is_admin: true },
})

const routes = [
  ['GET', /^\/auth\/status$/, () => [200, { mode, has_users: users.size > 0, registration_open: true }], true],
  [
    'POST',
    /^\/auth\/register$/,
    ({ body }) => {
      users.add(body.username)
      return [201, grant(body.username)]
    },
    true,
  ],
  [
    'POST',
    /^\/auth\/login$/,
    ({ body }) =>
      users.has(body.username)
        ? [200, grant(body.username)]
        : [
            401,
            { title: 'Unauthorized', status: 401, detail: 'User name or password is wrong.', code: 'bad_credentials' },
          ],
    true,
  ],
  ['POST', /^\/auth\/refresh$/, ({ body }) => [200, grant(body.refresh_token.slice(2))], true],
  ['POST', /^\/auth\/logout$/, () => [204]],
  [
    'GET',
    /^\/auth\/me$/,
    ({ user }) => [200, { id: user, username: user, email: null, is_admin: true, created_at: now() }],
  ],
  ['GET', /^\/models$/, () => [200, models]],
  ['POST', /^\/sessions$/, ({ body }) => [201, createSession(body.title ?? '').view]],
  [
    'GET',
    /^\/sessions$/,
    ({ query }) => [
      200,
      {
        items: [...sessions.values()]
          .map((session) => session.view)
          .filter((view) => view.title.toLowerCase().includes((query.get('q') ?? '').toLowerCase())),
        next_cursor: null,
      },
    ],
  ],
  ['GET', /^\/sessions\/([^/]+)$/, ({ session }) => [200, session.view]],
  [
    'PATCH',
    /^\/sessions\/([^/]+)$/,
    ({ session, body }) => {
      update(session, body)
      return [200, session.view]
    },
  ],
  [
    'DELETE',
    /^\/sessions\/([^/]+)$/,
    ({ session }) => {
      sessions.delete(session.view.id)
      return [204]
    },
  ],
  [
    'GET',
    /^\/sessions\/([^/]+)\/state$/,
    ({ session }) => [
      200,
      {
        session: session.view,
        messages: [],
        run: null,
        usage,
        sandbox: session.sandbox,
        last_seq: session.events.length,
      },
    ],
  ],
  [
    'POST',
    /^\/sessions\/([^/]+)\/messages$/,
    ({ session, body }) => {
      const known = session.sent.get(body.client_message_id)
      if (known) return [202, { ...known, duplicate: true }]
      const event = emit(session, {
        type: 'message.user',
        message_id: randomUUID(),
        text: body.text,
        attachments: body.attachments ?? [],
        client_message_id: body.client_message_id ?? null,
      })
      const answer = { message_id: event.message_id, run_id: 'r', seq: event.seq, duplicate: false }
      session.sent.set(body.client_message_id, answer)
      if (!session.stop) void run(session, body.text, event.message_id)
      return [202, answer]
    },
  ],
  [
    'POST',
    /^\/sessions\/([^/]+)\/stop$/,
    ({ session }) => {
      session.stop?.()
      return session.stop ? [202, { run_id: 'r' }] : [204]
    },
  ],
  [
    'GET',
    /^\/sessions\/([^/]+)\/events\/(\d+)\/body$/,
    () =>
      process.env.SHOT
        ? ['png', readFileSync(process.env.SHOT)]
        : [404, { title: 'Not Found', status: 404, detail: 'There is no body.', code: 'not_found' }],
  ],
  ['GET', /^\/sessions\/([^/]+)\/files$/, ({ session, query }) => [200, entries(session, query.get('path') ?? '')]],
  [
    'GET',
    /^\/sessions\/([^/]+)\/files\/content$/,
    ({ session, query }) => {
      const path = query.get('path')
      const content = session.files[path]
      return [
        200,
        {
          path,
          name: path.split('/').at(-1),
          size: content.length,
          content,
          binary: false,
          language: path.endsWith('.py') ? 'python' : null,
          truncated: false,
        },
      ]
    },
  ],
  [
    'POST',
    /^\/sessions\/([^/]+)\/files\/link$/,
    ({ session, body }) => [
      200,
      {
        url: `/api/sessions/${session.view.id}/files/download?path=${encodeURIComponent(body.path)}`,
        expires_at: now(),
      },
    ],
  ],
  [
    'POST',
    /^\/sessions\/([^/]+)\/files$/,
    ({ session, raw, query }) => {
      const uploaded = [...raw.toString('latin1').matchAll(/filename="([^"]+)"/g)].map(([, name]) =>
        [query.get('subdir'), name].filter(Boolean).join('/'),
      )
      for (const path of uploaded) session.files[path] = 'uploaded\n'
      return [201, { uploaded }]
    },
  ],
  [
    'POST',
    /^\/sessions\/([^/]+)\/vnc\/ticket$/,
    ({ session }) =>
      process.env.VNC_PORT
        ? [201, { ticket: 't', url: `/api/sessions/${session.view.id}/vnc?ticket=t`, expires_at: now() }]
        : [
            503,
            {
              title: 'Unavailable',
              status: 503,
              detail: 'The desktop does not answer.',
              code: 'unavailable',
              retryable: true,
            },
          ],
  ],
]

function openEvents(request, response, readers, missed) {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
    'X-Accel-Buffering': 'no',
  })
  response.write(': hello\n\n')
  for (const event of missed) response.write(frame(event))
  readers.add(response)
  const beat = setInterval(() => response.write(': beat\n\n'), 15_000)
  request.on('close', () => {
    clearInterval(beat)
    readers.delete(response)
  })
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://stand-in')
  const path = url.pathname.replace(/^\/api/, '')
  const raw = Buffer.concat(await Array.fromAsync(request))
  const user = mode === 'local' ? 'local' : request.headers.authorization?.replace('Bearer a.', '')
  const answer = (status, body) => {
    if (status === 'png') return response.writeHead(200, { 'Content-Type': 'image/png' }).end(body)
    response
      .writeHead(status, { 'Content-Type': status < 400 ? 'application/json' : 'application/problem+json' })
      .end(body === undefined ? undefined : JSON.stringify(body))
  }
  const session = sessions.get(/^\/sessions\/([^/]+)/.exec(path)?.[1])
  const route = routes.find(([method, pattern]) => method === request.method && pattern.test(path))
  if (!route?.[3] && !user)
    return answer(401, { title: 'Unauthorized', status: 401, detail: 'Log in again.', code: 'unauthenticated' })
  if (/^\/sessions\/[^/]+/.test(path) && !session)
    return answer(404, { title: 'Not Found', status: 404, detail: 'There is no such session.', code: 'not_found' })
  if (path === '/events') return openEvents(request, response, feeds, [])
  if (/^\/sessions\/[^/]+\/events$/.test(path)) {
    const missed = session.events.filter((event) => event.seq > Number(url.searchParams.get('after') ?? 0))
    if (url.searchParams.get('format') === 'json')
      return answer(200, { items: missed, last_seq: session.events.length, has_more: false })
    const soFar = [...session.open.values()].map(({ id, text }) => ({
      seq: null,
      type: 'message.delta',
      at: now(),
      session_id: session.view.id,
      run_id: null,
      message_id: id,
      offset: 0,
      text,
    }))
    return openEvents(request, response, session.readers, [...missed, ...soFar])
  }
  if (/\/files\/download$/.test(path)) return response.end(session.files[url.searchParams.get('path')] ?? '')
  if (!route) return answer(404, { title: 'Not Found', status: 404, detail: 'No such call.', code: 'not_found' })
  const body = request.headers['content-type']?.includes('json') && raw.length > 0 ? JSON.parse(raw) : {}
  return answer(...route[2]({ session, body, raw, user, query: url.searchParams }))
})

const sockets = new WebSocketServer({ server, handleProtocols: () => 'binary' })
sockets.on('connection', (socket) => {
  if (!process.env.VNC_PORT) return socket.close(4404)
  const screen = connect(Number(process.env.VNC_PORT), '127.0.0.1')
  screen.on('data', (data) => socket.send(data))
  screen.on('close', () => socket.close())
  screen.on('error', () => socket.close())
  socket.on('message', (data) => screen.write(data))
  socket.on('close', () => screen.destroy())
  return undefined
})
if (process.env.SHOT && !existsSync(process.env.SHOT)) throw new Error('SHOT names no file')
server.listen(port, '127.0.0.1', () => console.log(`stand-in on http://127.0.0.1:${port}`))
