// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { OpenPort } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import PortsPanel from './PortsPanel.vue'

const shop: OpenPort = {
  id: 'port_1',
  port: 3000,
  label: 'Shop',
  opened_at: '2026-01-01T00:00:00Z',
  opened_by: 'agent',
}
const plain: OpenPort = { ...shop, id: 'port_2', port: 8080, label: '', opened_by: 'person' }
const ADDRESS = 'https://port-3000.example.org/?signed=abc'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function show(props: { told?: readonly OpenPort[]; isComputerReady?: boolean; sessionId?: string } = {}) {
  return render(PortsPanel, {
    props: { sessionId: 's', told: [], isComputerReady: true, ...props },
    slots: { default: 'No computer yet' },
    global: { plugins: [i18n] },
  })
}
/** A server with these ports, of which opening and closing change the list. */
function serve(...ports: OpenPort[]) {
  let open = ports
  return startFakeServer({
    'GET /sessions/s/ports': () => json({ ports: open }),
    'POST /sessions/s/ports': ({ body }) => {
      const added = { ...plain, id: 'port_9', ...(body as object) }
      open = [...open, added]
      return json(added, 201)
    },
    'DELETE /sessions/s/ports/port_1': () => {
      open = open.filter(({ id }) => id !== 'port_1')
      return new Response(null, { status: 204 })
    },
    'POST /sessions/s/ports/port_1/address': () => json({ url: ADDRESS, expires_at: '2026-01-01T00:01:00Z' }),
  })
}
function stubTab() {
  const tab = { opener: window as Window | null, close: vi.fn(), location: { replace: vi.fn() } }
  const opens = vi.fn(() => tab as unknown as Window | null)
  vi.stubGlobal('open', opens)
  return { tab, opens }
}
const rows = async (): Promise<HTMLElement[]> => await screen.findAllByRole('listitem')

describe('the panel of ports', () => {
  it('lists what is open: its name, its number, who opened it and when', async () => {
    serve(plain, shop)
    show()
    const [first, second] = (await rows()).map((row) => row.textContent)
    expect(first).toMatch(/Shop.*Port 3000 · opened by the agent · since (Dec|Jan) /)
    expect(second).toMatch(/Port 8080.*opened by you/)
    expect(second?.match(/8080/g)).toHaveLength(1)
  })

  it('says what it is for where none is open, and reads again what events tell of', async () => {
    let open: OpenPort[] = []
    startFakeServer({ 'GET /sessions/s/ports': () => json({ ports: open }) })
    const { rerender } = show()
    expect(await screen.findByText(/No port is open/)).toBeTruthy()
    open = [shop]
    await rerender({ told: [shop] })
    expect(await screen.findByText('Shop')).toBeTruthy()
    open = []
    await rerender({ told: [] })
    expect(await screen.findByText(/No port is open/)).toBeTruthy()
  })

  it('opens one in a tab that the press opens and that has no hold of this page', async () => {
    serve(shop)
    const { tab, opens } = stubTab()
    show()
    await userEvent.click(await screen.findByRole('button', { name: 'Open Shop in a new tab' }))
    expect(opens).toHaveBeenCalledWith('', '_blank')
    expect(tab.opener).toBeNull()
    await vi.waitFor(() => expect(tab.location.replace).toHaveBeenCalledWith(ADDRESS))
    expect(tab.close).not.toHaveBeenCalled()
  })

  it.each([
    ['a port that is closed', () => problem(404, 'port_not_found'), /not open any more/],
    ['an address of no web', () => json({ url: 'javascript:alert(1)', expires_at: '' }), /Something went wrong/],
  ])('closes the tab again for %s, and says why', async (_what, answer, said) => {
    startFakeServer({
      'GET /sessions/s/ports': () => json({ ports: [shop] }),
      'POST /sessions/s/ports/port_1/address': answer,
    })
    const { tab } = stubTab()
    show()
    await userEvent.click(await screen.findByRole('button', { name: 'Open Shop in a new tab' }))
    expect((await screen.findByRole('alert')).textContent).toMatch(said)
    expect(tab.close).toHaveBeenCalled()
    expect(tab.location.replace).not.toHaveBeenCalled()
  })

  it('says so where the browser opens no tab, and asks for no address', async () => {
    const server = serve(shop)
    stubTab().opens.mockReturnValue(null)
    show()
    await userEvent.click(await screen.findByRole('button', { name: 'Open Shop in a new tab' }))
    expect((await screen.findByRole('alert')).textContent).toMatch(/Allow pop-ups/)
    expect(server.calls.filter(({ method }) => method === 'POST')).toEqual([])
  })

  it('copies an address, and says how long it is good, as long as it is', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, now: Date.parse('2026-01-01T00:00:00Z') })
    serve(shop)
    const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime.bind(vi) })
    show()
    await user.click(await screen.findByRole('button', { name: 'Copy address of Shop' }))
    expect(await screen.findByText(/Copied. It opens until .*:01:00/)).toBeTruthy()
    expect(screen.getByLabelText<HTMLInputElement>('Address of Shop').value).toBe(ADDRESS)
    vi.advanceTimersByTime(61_000)
    await vi.waitFor(() => expect(screen.queryByText(/Copied/)).toBeNull())
  })

  it('closes one once the person is sure, and says so', async () => {
    const server = serve(shop, plain)
    show()
    await userEvent.click(await screen.findByRole('button', { name: 'Close Shop' }))
    expect(document.activeElement?.textContent).toBe('Cancel')
    await userEvent.keyboard('{Enter}')
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Close Shop')
    expect(server.calls.some(({ method }) => method === 'DELETE')).toBe(false)
    await userEvent.keyboard('{Enter}')
    await userEvent.click(screen.getByRole('button', { name: 'Close port' }))
    expect((await screen.findByText('Shop is closed.')).role).toBe('status')
    expect((await rows()).map((row) => row.textContent)).toEqual([expect.stringContaining('Port 8080')])
    expect(document.activeElement).not.toBe(document.body)
  })

  it('takes one that was closed elsewhere for closed, and tells what else went wrong', async () => {
    let answer = problem(503, 'unavailable')
    startFakeServer({
      'GET /sessions/s/ports': () => json({ ports: [shop] }),
      'DELETE /sessions/s/ports/port_1': () => answer,
    })
    show()
    await userEvent.click(await screen.findByRole('button', { name: 'Close Shop' }))
    await userEvent.click(screen.getByRole('button', { name: 'Close port' }))
    expect(await screen.findByRole('alert')).toBeTruthy()
    answer = problem(404, 'port_not_found')
    await userEvent.click(screen.getByRole('button', { name: 'Close port' }))
    expect(await screen.findByText('Shop is closed.')).toBeTruthy()
  })

  it('opens a port by its number and name', async () => {
    const server = serve()
    show()
    const form = await screen.findByRole('form', { name: 'Open port' })
    await userEvent.type(within(form).getByLabelText('Port'), '80{Enter}')
    expect(screen.getByRole('alert').textContent).toContain('A whole number from 1024 to 65535.')
    await userEvent.clear(within(form).getByLabelText('Port'))
    await userEvent.type(within(form).getByLabelText('Port'), '4000')
    await userEvent.type(within(form).getByLabelText(/Name/), ' Docs {Enter}')
    expect(await screen.findByText('Port 4000 is open.')).toBeTruthy()
    expect((await rows())[0]?.textContent).toContain('Docs')
    expect(server.calls.filter(({ method }) => method === 'POST').map(({ body }) => body)).toEqual([
      { port: 4000, label: 'Docs' },
    ])
    expect(screen.queryByRole('alert')).toBeNull()
    expect(within(form).getByLabelText<HTMLInputElement>('Port').value).toBe('')
  })

  it.each([
    [422, 'port_refused', /the computer itself uses it/],
    [409, 'too_many_ports', /Close one first/],
  ])('tells of a port that is refused with %i %s, and keeps what was written', async (status, code, said) => {
    startFakeServer({
      'GET /sessions/s/ports': () => json({ ports: [] }),
      'POST /sessions/s/ports': () => problem(status, code),
    })
    show()
    await userEvent.type(await screen.findByLabelText('Port'), '7000{Enter}')
    expect((await screen.findByRole('alert')).textContent).toMatch(said)
    expect(screen.getByLabelText<HTMLInputElement>('Port').value).toBe('7000')
  })

  it('says that it is switched off, that the computer is not there, or what went wrong', async () => {
    let answer = () => problem(503, 'unavailable')
    startFakeServer({ 'GET /sessions/s/ports': () => answer() })
    const { rerender } = show({ isComputerReady: false })
    expect(screen.getByText('No computer yet')).toBeTruthy()
    await rerender({ isComputerReady: true })
    expect((await screen.findByRole('alert')).textContent).toMatch(/does not answer/)
    answer = () => problem(409, 'ports_off')
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText(/switched off on this server/)).toBeTruthy()
    expect(screen.queryByRole('form')).toBeNull()
  })

  it('keeps what is open while the computer sleeps, and says that it does', async () => {
    serve(shop)
    show({ isComputerReady: false })
    expect(await screen.findByRole('button', { name: 'Open Shop in a new tab' })).toBeTruthy()
    expect(screen.getByText('No computer yet')).toBeTruthy()
    expect(screen.queryByRole('form')).toBeNull()
  })

  it('says that it is switched off where only opening one tells so', async () => {
    startFakeServer({
      'GET /sessions/s/ports': () => json({ ports: [] }),
      'POST /sessions/s/ports': () => problem(409, 'ports_off'),
    })
    show()
    await userEvent.type(await screen.findByLabelText('Port'), '3000{Enter}')
    expect(await screen.findByText(/switched off on this server/)).toBeTruthy()
    expect(screen.queryByRole('form')).toBeNull()
  })

  it('shows nothing of another conversation, whose answer may come late', async () => {
    let answer = (): void => undefined
    const isAsked = new Promise<void>((resolve) => (answer = resolve))
    startFakeServer({
      'GET /sessions/s/ports': async () => (await isAsked, json({ ports: [shop] })),
      'GET /sessions/other/ports': () => json({ ports: [plain] }),
    })
    const { rerender } = show()
    await rerender({ sessionId: 'other' })
    expect(await screen.findByText('Port 8080')).toBeTruthy()
    answer()
    await new Promise((resolve) => setTimeout(resolve))
    expect(screen.queryByText('Shop')).toBeNull()
  })
})
