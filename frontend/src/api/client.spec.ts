// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { grant, json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { call, enter, onSignedOut } from './client'
import { dropLogIn, hasLogIn, keepLogIn, onLogInChanged, readAccess } from './tokens'

const kept = (): string => JSON.stringify({ ...localStorage }) + document.cookie

beforeEach(() => keepLogIn(grant('old')))
afterEach(() => {
  dropLogIn()
  vi.unstubAllGlobals()
})

describe('call', () => {
  it('refreshes once for any number of calls at the same time', async () => {
    const server = startFakeServer({
      'GET /auth/me': ({ headers }) =>
        headers.get('Authorization') === 'Bearer new' ? json({ id: 'u' }) : problem(401, 'unauthenticated'),
      'POST /auth/refresh': () => json(grant('new')),
    })
    await Promise.all([call('GET', '/auth/me'), call('GET', '/auth/me'), call('GET', '/auth/me')])
    const refreshes = server.calls.filter((made) => made.path === '/auth/refresh')
    expect(refreshes.map((made) => made.body)).toEqual([{ cookie: true, user_id: 'u' }])
    expect(kept()).not.toMatch(/old|new/)
  })
  it('asks by the cookie before anything else when it has no token, or one that is about to end', async () => {
    const server = startFakeServer({
      'GET /auth/me': ({ headers }) => json({ id: headers.get('Authorization') }),
      'POST /auth/refresh': () => json(grant('new')),
    })
    keepLogIn(grant('ends', 'u', 5))
    expect(await call('GET', '/auth/me')).toEqual({ id: 'Bearer new' })
    expect(server.calls.map((made) => made.path)).toEqual(['/auth/refresh', '/auth/me'])
  })
  it('trades the token that a page of before had kept, once, and deletes it', async () => {
    dropLogIn()
    localStorage.setItem('tokens', JSON.stringify({ access: 'a', refresh: 'kept' }))
    const server = startFakeServer({
      'GET /auth/me': () => json({ id: 'u' }),
      'POST /auth/refresh': () => json(grant('new')),
    })
    expect(hasLogIn()).toBe(true)
    await call('GET', '/auth/me')
    expect(server.calls[0]?.body).toEqual({ cookie: true, refresh_token: 'kept' })
    expect(localStorage.getItem('tokens')).toBeNull()
    expect(hasLogIn()).toBe(true)
    expect(kept()).not.toMatch(/kept|new/)
  })
  it('asks again when the answer of a refresh is lost', async () => {
    vi.useFakeTimers()
    let lost = 2
    startFakeServer({
      'GET /auth/me': () => json({ id: 'u' }),
      'POST /auth/refresh': () => (lost-- > 0 ? Promise.reject(new TypeError('network')) : json(grant('new'))),
    })
    keepLogIn(grant('ends', 'u', 5))
    const asked = call('GET', '/auth/me')
    await vi.advanceTimersByTimeAsync(2000)
    await expect(asked).resolves.toEqual({ id: 'u' })
    expect(readAccess()).toBe('new')
    vi.useRealTimers()
  })
  it('says so when the cookie turns out to be another account’s', async () => {
    const changed = vi.fn()
    const forget = onLogInChanged(changed)
    startFakeServer({
      'GET /auth/me': () => json({ id: 'other' }),
      'POST /auth/refresh': () => json(grant('new', 'other')),
    })
    keepLogIn(grant('ends', 'u', 5))
    expect(changed).not.toHaveBeenCalled()
    await call('GET', '/auth/me')
    expect(changed).toHaveBeenCalledOnce()
    forget()
  })
  it('asks again as the one who logged in beside it while it asked', async () => {
    const server = startFakeServer({
      'GET /auth/me': () => json({ id: 'other' }),
      'POST /auth/refresh': ({ body }) => {
        if ((body as { user_id: string }).user_id === 'other') return json(grant('new', 'other'))
        localStorage.setItem('log-in', JSON.stringify({ user: 'other', at: 1 }))
        return problem(401, 'token_invalid')
      },
    })
    keepLogIn(grant('ends', 'u', 5))
    await call('GET', '/auth/me')
    expect(server.calls.map((made) => made.path)).toEqual(['/auth/refresh', '/auth/refresh', '/auth/me'])
    expect(hasLogIn()).toBe(true)
  })
  it('lets no refresh run while the password changes', async () => {
    const order: string[] = []
    startFakeServer({
      'POST /auth/password': async () => {
        order.push('password')
        await new Promise((resolve) => setTimeout(resolve, 20))
        order.push('changed')
        return json(grant('changed'))
      },
      'GET /auth/me': ({ headers }) =>
        headers.get('Authorization') === 'Bearer changed' ? json({ id: 'u' }) : problem(401, 'token_invalid'),
      'POST /auth/refresh': () => {
        order.push('refresh')
        return problem(401, 'token_invalid')
      },
    })
    const changing = enter('/auth/password', { old_password: 'a', new_password: 'b' })
    await expect(call('GET', '/auth/me')).resolves.toEqual({ id: 'u' })
    await changing
    expect(order).toEqual(['password', 'changed'])
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
    expect([readAccess(), hasLogIn()]).toEqual([undefined, false])
    forget()
  })
  it('keeps the tokens when the server merely stumbles at the refresh', async () => {
    startFakeServer({
      'GET /auth/me': () => problem(401, 'unauthenticated'),
      'POST /auth/refresh': () => problem(503, 'unavailable'),
    })
    await expect(call('GET', '/auth/me')).rejects.toMatchObject({ status: 503 })
    expect(hasLogIn()).toBe(true)
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
