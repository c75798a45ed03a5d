import { readdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const TEXT: ReadonlySet<string> = new Set(['.css', '.html', '.js', '.json', '.mjs', '.svg', '.ttf'])
/** Below this a copy saves less than its headers cost. */
const SMALLEST = 1024
const asGzip = promisify(gzip)
const asBrotli = promisify(brotliCompress)

/** Both copies of a file's bytes, by the ending that they are stored under; what would not be smaller is left out. */
export async function copiesOf(bytes: Buffer): Promise<Map<string, Buffer>> {
  const copies = new Map<string, Buffer>()
  if (bytes.length < SMALLEST) return copies
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  const [packed, smaller] = await Promise.all([asGzip(bytes, { level: 9 }), asBrotli(bytes, { params })])
  if (packed.length < bytes.length) copies.set('.gz', packed)
  if (smaller.length < bytes.length) copies.set('.br', smaller)
  return copies
}

/** Leaves a compressed copy beside each text file of the build: gateway and nginx send those as they are. */
export function compress(): Plugin {
  let folder = ''
  return {
    name: 'compress',
    apply: 'build',
    configResolved: (config) => void (folder = resolve(config.root, config.build.outDir)),
    async closeBundle() {
      const files = await readdir(folder, { recursive: true })
      const work = files.filter((file) => TEXT.has(extname(file))).map((file) => packed(join(folder, file)))
      await Promise.all(work)
    },
  }
}

async function packed(file: string): Promise<void> {
  const copies = await copiesOf(await readFile(file))
  await Promise.all([...copies].map(([ending, bytes]) => writeFile(file + ending, bytes)))
}
