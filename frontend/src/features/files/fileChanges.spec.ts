import { expect, it } from 'vitest'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { byFolder, fulfil, pathFault, proposedPath } from './fileChanges'

it.each([
  ['notes.md', null],
  ['in/notes.md', null],
  ['', 'empty'],
  ['in/', 'empty'],
  ['../notes.md', 'outside'],
  ['in/../../x', 'outside'],
  ['.agent/x', 'hidden'],
  ['./.team', 'hidden'],
  ['in/.agent', null],
])('judges the path %s as %s', (path, fault) => {
  expect(pathFault(path)).toBe(fault)
})

it('proposes the folder that something new belongs in, and the path of what is moved', () => {
  expect(proposedPath({ kind: 'file', folder: '' })).toBe('')
  expect(proposedPath({ kind: 'folder', folder: 'in' })).toBe('in/')
  expect(proposedPath({ kind: 'move', path: 'in/a.txt', isFolder: false })).toBe('in/a.txt')
})

it('makes, moves and deletes by the routes of files', async () => {
  const answer = () => json({ path: 'made' })
  const server = startFakeServer({
    'PUT /sessions/s/files/text': answer,
    'POST /sessions/s/files/folder': answer,
    'POST /sessions/s/files/move': answer,
    'DELETE /sessions/s/files': answer,
  })
  await fulfil('s', { kind: 'file', folder: '' }, ' a.txt ')
  await fulfil('s', { kind: 'folder', folder: '' }, 'in')
  await fulfil('s', { kind: 'move', path: 'a.txt', isFolder: false }, 'b.txt')
  await fulfil('s', { kind: 'delete', path: 'b.txt', isFolder: false }, '')
  expect(server.calls.map(({ body }) => body)).toEqual([
    { path: 'a.txt', content: '', if_match: null },
    { path: 'in' },
    { source: 'a.txt', destination: 'b.txt' },
    undefined,
  ])
})

it('keeps the folders of what is uploaded', () => {
  const file = (path: string) => Object.assign(new File(['x'], path), { webkitRelativePath: path })
  const found = byFolder(
    ['site/index.html', 'site/img/a.png', 'site/img/b.png'].map((path) =>
      Object.create(file(path), {
        webkitRelativePath: { value: path },
      }),
    ),
    'in',
  )
  expect([...found].map(([folder, files]) => [folder, files.length])).toEqual([
    ['in/site', 1],
    ['in/site/img', 2],
  ])
})
