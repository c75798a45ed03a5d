// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { McpServer } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { routerAt } from '@/shared/testing/routerAt'
import McpPage from './McpPage.vue'

const needs: McpServer = {
  name: 'wiki',
  source: 'user',
  type: 'http',
  command: null,
  args: [],
  url: 'https://wiki.example.org/mcp',
  env: [],
  headers: [],
  enabled: true,
  only: null,
  status: 'failed',
  tools: [],
  error: 'It needs you to sign in.',
  code: 'mcp_needs_sign_in',
  tried_at: null,
  is_hidden: false,
  signed_in: false,
  client_id: null,
  has_client_secret: false,
}

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

async function show(list: McpServer[], answers: Parameters<typeof startFakeServer>[0] = {}) {
  const server = startFakeServer({ 'GET /mcp': () => json(list), ...answers })
  render(McpPage, { global: { plugins: [i18n, await routerAt('/')] } })
  return server
}

describe('signing in at an MCP server', () => {
  it('signs in where that is asked for, in a tab of its own, tries it when the person is back, and signs out', async () => {
    let list = [needs]
    const tab = { opener: window as unknown, location: { replace: vi.fn() }, close: vi.fn() }
    vi.stubGlobal(
      'open',
      vi.fn(() => tab),
    )
    const server = await show([], {
      'GET /mcp': () => json(list),
      'POST /mcp/wiki/sign-in': () => json({ url: 'https://auth.example.org/authorize?state=s' }),
      'POST /mcp/wiki/test': () => json({ ...needs, status: 'ready', code: null, error: null, signed_in: true }),
      'DELETE /mcp/wiki/sign-in': () => {
        list = [needs]
        return new Response(null, { status: 204 })
      },
    })
    await userEvent.click(await screen.findByRole('button', { name: 'Sign in' }))
    expect(await screen.findByText(/in the tab that was opened/)).toBeTruthy()
    expect(tab.opener).toBeNull()
    expect(tab.location.replace).toHaveBeenCalledWith('https://auth.example.org/authorize?state=s')
    window.dispatchEvent(new Event('focus'))
    await vi.waitFor(() => expect(server.calls.filter(({ path }) => path === '/mcp').length).toBe(2))
    list = [{ ...needs, status: 'unknown', code: null, error: null, signed_in: true }]
    window.dispatchEvent(new Event('focus'))
    expect(await screen.findByText(/wiki works/)).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: /^wiki/ }))
    await userEvent.click(screen.getByRole('button', { name: 'Sign out' }))
    expect(await screen.findByText(/signed out of wiki/)).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Sign in' })).toBeTruthy()
  })
  it('leads to the sign-in by a link where no tab may be opened, and closes the tab where it can’t begin', async () => {
    let answer = json({ url: 'https://auth.example.org/authorize' })
    await show([needs], { 'POST /mcp/wiki/sign-in': () => answer })
    const open = vi.fn<() => unknown>(() => null)
    vi.stubGlobal('open', open)
    await userEvent.click(await screen.findByRole('button', { name: 'Sign in' }))
    const link = await screen.findByRole('link', { name: 'Open the sign-in page' })
    expect(link.getAttribute('href')).toBe('https://auth.example.org/authorize')
    const tab = { opener: null, location: { replace: vi.fn() }, close: vi.fn() }
    open.mockReturnValue(tab)
    answer = problem(409, 'mcp_no_sign_in', 'It does not say where users sign in.')
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }))
    expect(await screen.findByText(/does not say where/)).toBeTruthy()
    expect(tab.close).toHaveBeenCalled()
    answer = json({ url: 'javascript:alert(1)' })
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }))
    await vi.waitFor(() => expect(tab.close).toHaveBeenCalledTimes(2))
    expect(tab.location.replace).not.toHaveBeenCalled()
  })
  it('signs in again where the server asks for more than was allowed, and tries it once that is done', async () => {
    const lacks: McpServer = { ...needs, status: 'ready', code: 'mcp_needs_scope', error: 'More.', signed_in: true }
    let list = [lacks]
    vi.stubGlobal('open', () => ({ opener: null, location: { replace: vi.fn() }, close: vi.fn() }))
    const server = await show([], {
      'GET /mcp': () => json(list),
      'POST /mcp/wiki/sign-in': () => json({ url: 'https://auth.example.org/authorize' }),
      'POST /mcp/wiki/test': () => json({ ...lacks, code: null, error: null }),
    })
    expect(await screen.findByText(/more than you allowed it/)).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Sign in again' }))
    expect(await screen.findByText(/in the tab that was opened/)).toBeTruthy()
    window.dispatchEvent(new Event('focus'))
    await vi.waitFor(() => expect(server.calls.filter(({ path }) => path === '/mcp').length).toBe(2))
    list = [{ ...lacks, code: null, error: null }]
    window.dispatchEvent(new Event('focus'))
    expect(await screen.findByText(/wiki works/)).toBeTruthy()
    expect(server.calls.filter(({ path }) => path === '/mcp/wiki/test').length).toBe(1)
    expect(screen.queryByRole('button', { name: 'Sign in again' })).toBeNull()
  })
})
