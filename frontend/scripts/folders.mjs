// No folder of src imports, by any way round, a folder beside it that imports it: `node scripts/folders.mjs`.
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import typescript from 'typescript'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))

/** The paths of the sources, and of each what it imports from them. */
function readSources(root) {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(sep).join('/'))
    .filter((name) => /\.(ts|vue)$/.test(name) && !/\.(spec|d)\.ts$|\/testing\//.test(name))
  const known = new Set(names)
  const found = (path) => [path, `${path}.ts`, `${path}/index.ts`].find((candidate) => known.has(candidate))
  return new Map(names.map((name) => [name, importsOf(readFileSync(join(root, name), 'utf8'), name, found)]))
}

export function importsOf(text, name, found) {
  const script = name.endsWith('.vue')
    ? [...text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map((m) => m[1])
    : [text]
  const wanted = script.flatMap((part) => typescript.preProcessFile(part, true, true).importedFiles)
  return wanted.flatMap(({ fileName }) => {
    if (fileName.startsWith('@/')) return found(fileName.slice(2)) ?? []
    return fileName.startsWith('.') ? (found(posix.join(posix.dirname(name), fileName)) ?? []) : []
  })
}

/** Per folder, what its children take from each other; the files that lie in it directly count as one child, '.'. */
function edgesOf(sources) {
  const edges = new Map()
  for (const [from, imported] of sources) {
    for (const to of imported) {
      const [a, b] = [from.split('/'), to.split('/')]
      let depth = 0
      while (depth < a.length - 1 && depth < b.length - 1 && a[depth] === b[depth]) depth += 1
      const childOf = (parts) => (depth < parts.length - 1 ? parts[depth] : '.')
      if (childOf(a) === childOf(b)) continue
      const folder = a.slice(0, depth).join('/')
      const inFolder = edges.get(folder) ?? new Map()
      edges.set(folder, inFolder)
      const key = childOf(a)
      inFolder.set(key, [...(inFolder.get(key) ?? []), { child: childOf(b), from, to }])
    }
  }
  return edges
}

/** The imports that close a circle, one line each circle found; each is named once. */
export function circlesIn(sources) {
  const circles = []
  for (const [folder, children] of edgesOf(sources)) {
    const done = new Set()
    const visit = (child, way) => {
      const start = way.findIndex((step) => step.of === child)
      if (start >= 0) {
        const names = way.slice(start).map(({ of, from, to }) => `${of} (${from} imports ${to})`)
        circles.push(`src/${folder}: ${names.join(' -> ')} -> ${child}`)
        return
      }
      if (done.has(child)) return
      for (const edge of children.get(child) ?? []) visit(edge.child, [...way, { of: child, ...edge }])
      done.add(child)
    }
    for (const child of children.keys()) visit(child, [])
  }
  return circles
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const circles = circlesIn(readSources(SOURCES))
  for (const circle of new Set(circles)) console.error(circle)
  process.exitCode = circles.length > 0 ? 1 : 0
}
