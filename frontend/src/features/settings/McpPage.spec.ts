// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen, within } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { McpServer } from '@/api/types'
import { i18n, setLanguage } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { routerAt } from '@/shared/testing/routerAt'
import { argumentsIn, argumentsText, valuesIn } from './mcpServers'
import McpPage from './McpPage.vue'

const wiki: McpServer = {
  name: 'wiki',
  source: 'user',
  type: 'http',
  command: null,
  args: [],
  url: 'https://wiki.example.org/mcp',
  env: ['TOKEN'],
  headers: ['Authorization'],
  enabled: true,
  only: null,
  status: 'unknown',
  tools: [],
  error: null,
  code: null,
  tried_at: null,
  is_hidden: false,
  signed_in: false,
  client_id: null,
  has_client_secret: false,
}
const shared: McpServer = { ...wiki, name: 'shared', source: 'deployment', url: null, env: [], headers: [] }

beforeEach(() => setActivePinia(createPinia()))
afterEach(async () => {
  cleanup()
  vi.unstubAllGlobals()
  await setLanguage('en')
})

async function show(list: McpServer[], answers: Parameters<typeof startFakeServer>[0] = {}, path = '/') {
  const server = startFakeServer({ 'GET /mcp': () => json(list), ...answers })
  render(McpPage, { global: { plugins: [i18n, await routerAt(path)] } })
  return server
}
const sent = (server: Awaited<ReturnType<typeof show>>, method: string) =>
  server.calls.filter((one) => one.method === method).map(({ path, body }) => ({ path, body }))

describe('the page of MCP servers', () => {
  it('adds one by the keyboard alone and gives the focus back', async () => {
    const list = [shared]
    const server = await show(list, {
      'PUT /mcp/wiki': () => {
        list.push(wiki)
        return json(wiki)
      },
    })
    await screen.findByText('shared')
    screen.getByRole('button', { name: 'Add a server' }).focus()
    await userEvent.keyboard('{Enter}')
    expect(document.activeElement).toBe(screen.getByLabelText('Name'))
    await userEvent.keyboard(
      'wiki{Tab}{Tab}https://wiki.example.org/mcp{Tab}{Tab}Authorization: Bearer x:y{Tab}{Tab}{Tab}get_*{Enter}',
    )
    expect(await screen.findByText(/wiki is saved/)).toBeTruthy()
    const body = {
      type: null,
      command: '',
      args: [],
      url: 'https://wiki.example.org/mcp',
      env: {},
      headers: { Authorization: 'Bearer x:y' },
      enabled: true,
      tools: ['get_*'],
      oauth: null,
    }
    expect(sent(server, 'PUT')).toEqual([{ path: '/mcp/wiki', body }])
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Add a server' }))
  })
  it('adds a program with its arguments and variables, which is not tried by itself', async () => {
    const program: McpServer = { ...wiki, type: 'stdio', url: null, command: 'npx', args: ['-y', 'notes'], headers: [] }
    const list = [shared]
    const server = await show(list, {
      'PUT /mcp/notes': () => {
        list.push({ ...program, name: 'notes' })
        return json(program)
      },
    })
    await userEvent.click(await screen.findByRole('button', { name: 'Add a server' }))
    await userEvent.type(screen.getByLabelText('Name'), 'notes')
    await userEvent.click(screen.getByLabelText('A program in the agent’s computer'))
    expect(screen.queryByLabelText('Address')).toBeNull()
    await userEvent.type(screen.getByLabelText('Arguments'), '-y{Enter}notes')
    await userEvent.type(screen.getByLabelText('Variables'), 'TOKEN=a=b')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect(screen.getByRole('alert').textContent).toContain('which command')
    expect(screen.getByLabelText('Command')).toBe(document.activeElement)
    expect(screen.getByLabelText('Command').getAttribute('aria-describedby')).toBe(screen.getByRole('alert').id)
    await userEvent.type(screen.getByLabelText('Command'), 'npx{Enter}')
    expect(await screen.findByText(/notes is saved/)).toBeTruthy()
    expect(sent(server, 'PUT')[0]?.body).toEqual({
      type: 'stdio',
      url: '',
      command: 'npx',
      args: ['-y', 'notes'],
      env: { TOKEN: 'a=b' },
      headers: {},
      enabled: true,
      tools: null,
      oauth: null,
    })
    expect(screen.getByText('Runs in the computer of each conversation.')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: /^notes/ }))
    expect(screen.getByText('npx -y notes')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Test connection' })).toBeNull()
  })
  it('tries a program in the computer of the conversation that is shown', async () => {
    const program: McpServer = { ...wiki, type: 'stdio', url: null, command: 'npx', headers: [] }
    const tried = { 'POST /mcp/wiki/test': () => json({ ...program, status: 'ready', tools: ['mcp__wiki__get'] }) }
    const server = await show([program], tried, '/s/abc')
    await userEvent.click(await screen.findByRole('button', { name: /^wiki/ }))
    await userEvent.click(screen.getByRole('button', { name: 'Test in this conversation’s computer' }))
    expect(await screen.findByText(/wiki works/)).toBeTruthy()
    expect(screen.getByText('It works, with 1 tool.')).toBeTruthy()
    expect(server.calls.at(-1)?.path).toBe('/mcp/wiki/test?session_id=abc')
  })
  it('keeps values that are not written anew, and says in the form what is refused', async () => {
    const server = await show([wiki], { 'PUT /mcp/wiki': () => problem(422, 'invalid', 'Give Authorization anew.') })
    await userEvent.click(await screen.findByRole('button', { name: 'Edit wiki' }))
    const url = screen.getByLabelText('Address')
    await userEvent.clear(url)
    await userEvent.type(url, 'no address{Enter}')
    expect(sent(server, 'PUT')).toEqual([])
    await userEvent.clear(url)
    await userEvent.type(url, 'https://other.example.org{Enter}')
    expect((await screen.findByRole('alert')).textContent).toContain('Give Authorization anew.')
    expect(sent(server, 'PUT')[0]?.body).toMatchObject({ env: { TOKEN: null }, headers: { Authorization: null } })
  })
  it('says at the address why no server can be there', async () => {
    const message = "This address can't be used: its port must be a number from 1 to 65535."
    const refusal = { code: 'invalid', detail: '', errors: [{ field: 'body.url', message, code: 'mcp_url_port' }] }
    await show([wiki], { 'PUT /mcp/wiki': () => json(refusal, 422) })
    await userEvent.click(await screen.findByRole('button', { name: 'Edit wiki' }))
    const url = screen.getByLabelText('Address')
    await userEvent.clear(url)
    await userEvent.type(url, 'https://wiki.example.org:99999{Enter}')
    expect((await screen.findByRole('alert')).textContent).toBe(message)
    expect(url.getAttribute('aria-invalid')).toBe('true')
    await vi.waitFor(() => expect(document.activeElement).toBe(url))
  })
  it('says at the client secret that it has to be given anew', async () => {
    const message = 'Give the client secret again: it was not given for this server.'
    const refusal = { code: 'invalid', detail: '', errors: [{ field: 'body.oauth', message, code: 'invalid' }] }
    const own = { ...wiki, client_id: 'us', has_client_secret: true }
    await show([own], { 'PUT /mcp/wiki': () => json(refusal, 422) })
    await userEvent.click(await screen.findByRole('button', { name: 'Edit wiki' }))
    await userEvent.click(screen.getByText('Sign in with your own OAuth client'))
    expect(screen.queryByLabelText('Client secret')).toBeNull()
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect((await screen.findByRole('alert')).textContent).toBe(message)
    const secret = screen.getByLabelText('Client secret')
    expect(secret.getAttribute('aria-invalid')).toBe('true')
    await vi.waitFor(() => expect(document.activeElement).toBe(secret))
  })
  it('tries one of everybody and one of one’s own, and shows their tools and what is wrong', async () => {
    await show([shared, wiki], {
      'POST /mcp/shared/test': () => json({ ...shared, status: 'ready', tools: ['mcp__shared__get'] }),
      'POST /mcp/wiki/test': () => json({ ...wiki, status: 'failed', error: 'It responds with status 503.' }),
    })
    const [first, second] = (await screen.findAllByRole('listitem')) as [HTMLElement, HTMLElement]
    expect(within(first).queryByRole('button', { name: 'Edit shared' })).toBeNull()
    await userEvent.click(within(first).getByRole('button', { name: /shared/ }))
    await userEvent.click(within(first).getByRole('button', { name: 'Test connection' }))
    expect(await screen.findByText(/shared works/)).toBeTruthy()
    expect(first.textContent).toContain('mcp__shared__get')
    await userEvent.click(within(second).getByRole('button', { name: /^wiki/ }))
    await userEvent.click(within(second).getByRole('button', { name: 'Test connection' }))
    expect(await screen.findByText(/wiki can’t be used/)).toBeTruthy()
    expect(second.textContent).toContain('status 503')
    expect(second.textContent).not.toContain('It can’t be used')
  })
  it('keeps the secret of a client that stays the same, and asks for that of another one', async () => {
    const own: McpServer = { ...wiki, headers: [], client_id: 'mine', has_client_secret: true }
    const server = await show([own], { 'PUT /mcp/wiki': () => json(own) })
    const saved = async (id: string, secret: string) => {
      await userEvent.click(await screen.findByRole('button', { name: 'Edit wiki' }))
      if (!screen.queryByLabelText('Client ID'))
        await userEvent.click(screen.getByText('Sign in with your own OAuth client'))
      await userEvent.clear(await screen.findByLabelText('Client ID'))
      if (id) await userEvent.type(screen.getByLabelText('Client ID'), id)
      if (secret) await userEvent.type(screen.getByLabelText('Client secret'), secret)
      await userEvent.click(screen.getByRole('button', { name: 'Save' }))
      await screen.findByText(/wiki is saved/)
      return (sent(server, 'PUT').at(-1)?.body as { oauth: unknown }).oauth
    }
    expect(await saved('mine', '')).toEqual({ client_id: 'mine', client_secret: null })
    expect(await saved('other', '')).toEqual({ client_id: 'other', client_secret: '' })
    expect(await saved('mine', 'anew')).toEqual({ client_id: 'mine', client_secret: 'anew' })
    expect(await saved('', '')).toBeNull()
  })
  it('switches one off, and deletes it once that is confirmed', async () => {
    let list = [wiki]
    const server = await show([], {
      'GET /mcp': () => json(list),
      'PUT /mcp/wiki': () => {
        list = [{ ...wiki, enabled: false }]
        return json(list[0])
      },
      'DELETE /mcp/wiki': () => {
        list = []
        return new Response(null, { status: 204 })
      },
    })
    await userEvent.click(await screen.findByRole('button', { name: /^wiki/ }))
    await userEvent.click(screen.getByRole('button', { name: 'Switch off' }))
    expect(await screen.findByText('Switched off.')).toBeTruthy()
    expect(sent(server, 'PUT')[0]?.body).toMatchObject({ enabled: false, headers: { Authorization: null } })
    await userEvent.click(screen.getByRole('button', { name: 'Delete wiki' }))
    await userEvent.click(screen.getByRole('button', { name: 'Delete server' }))
    expect(await screen.findByText(/wiki was deleted/)).toBeTruthy()
  })
  it('says it in Chinese, too, also why one can’t be used where it knows the words', async () => {
    await setLanguage('zh')
    await show([{ ...wiki, status: 'failed', code: 'mcp_timed_out', error: 'It did not answer within 10 seconds.' }])
    expect(await screen.findByText('它没有及时响应。')).toBeTruthy()
    expect(await screen.findByRole('button', { name: '添加服务器' })).toBeTruthy()
  })
})

it('reads headers one a line, each with its value or none', () => {
  expect(valuesIn(' A: b:c \n\nD:\nE', ':')).toEqual({ A: 'b:c', D: null, E: null })
})

it('keeps arguments of several lines as they are, and others as they are written', () => {
  const args = ['-c', 'import sys\nprint("a")', '"quoted"', ' ', '--x=1']
  expect(argumentsIn(argumentsText(args))).toEqual(args)
  expect(argumentsText(args).split('\n')).toHaveLength(args.length)
  expect(argumentsIn('"a b"\n"c\\nd"\n"')).toEqual(['"a b"', 'c\nd', '"'])
  expect(valuesIn('KEY="a\\nb"', '=')).toEqual({ KEY: 'a\nb' })
})
