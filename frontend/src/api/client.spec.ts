// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { call, onSignedOut } from './client'
import { readTokens } from './tokens'

beforeEach(() => localStorage.setItem('tokens', JSON.stringify({ access: 'old', refresh: 'r' })))
afterEach(() => vi.unstubAllGlobals())

describe('call', () => {
  it('refreshes once for any number of calls at the same time', async () => {
    const server = startFakeServer({
      'GET /auth/me': ({ headers }) =>
        headers.get('Authorization') === 'Bearer new' ? json({ id: 'u' }) : problem(401, 'unauthenticated'),
      'POST /auth/refresh': () => json({ access_token: 'new', refresh_token: 'r2', user: {} }),
    })
    await Promise.all([call('GET', '/auth/me'), call('GET', '/auth/me'), call('GET', '/auth/me')])
    const refreshes = server.calls.filter((made) => made.path === '/auth/refresh')
    expect(refreshes.every((made) => JSON.stringify(made.body) === '{"refresh_token":"r"}')).toBe(true)
    expect(refreshes).toHaveLength(1)
  })
  it('signs out when the refresh token is refused', async () => {
    const left = vi.fn()
    const forget = onSignedOut(left)
    startFakeServer({
      'GET /auth/me': () => problem(401, 'unauthenticated'),
      'POST /auth/refresh': () => problem(401, 'unauthenticated'),
    })
    await expect(call('GET', '/auth/me')).rejects.toMatchObject({ status: 401 })
    expect(left).toHaveBeenCalledOnce()
    expect(readTokens()).toBeNull()
    forget()
  })
  it('keeps the tokens when the server merely stumbles at the refresh', async () => {
    startFakeServer({
      'GET /auth/me': () => problem(401, 'unauthenticated'),
      'POST /auth/refresh': () => problem(503, 'unavailable'),
    })
    await expect(call('GET', '/auth/me')).rejects.toMatchObject({ status: 503 })
    expect(readTokens()).not.toBeNull()
  })
  it('tells the fields of a problem', async () => {
    startFakeServer({
      'POST /sessions': () =>
        json(
          {
            title: 'Invalid',
            status: 422,
            detail: 'x',
            code: 'invalid',
            errors: [{ field: 'body.title', message: 'too long' }],
          },
          422,
        ),
    })
    await expect(call('POST', '/sessions', { body: {} })).rejects.toMatchObject({
      code: 'invalid',
      errors: [{ field: 'body.title', message: 'too long' }],
    })
  })
  it('never sends twice what may have changed something', async () => {
    const fetched = vi.fn().mockRejectedValue(new TypeError('network'))
    vi.stubGlobal('fetch', fetched)
    await expect(call('POST', '/sessions', { body: {} })).rejects.toMatchObject({ code: 'unreachable' })
    expect(fetched).toHaveBeenCalledOnce()
  })
})
