import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'
import { compress } from './scripts/compress.ts'
import { onlyUsedVue } from './scripts/onlyUsedVue.ts'

const backend = process.env['BACKEND_URL'] ?? 'http://127.0.0.1:8000'

const { version } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string }

/** Empty where the sources are no checkout or there is no git, as in the build of the image. */
function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return ''
  }
}

const folder = fileURLToPath(new URL('.', import.meta.url))
const SPECS = ['src/**/*.spec.ts', 'scripts/**/*.spec.ts']
/** A module that a spec replaces is another one for the modules that are loaded after it alone. */
const REPLACES = /\bvi\.(mock|doMock|resetModules)\(|from '\.\/composerTesting'/
const replacing = (): string[] =>
  globSync(SPECS, { cwd: folder }).filter((spec) => REPLACES.test(readFileSync(`${folder}/${spec}`, 'utf8')))

export default defineConfig({
  plugins: [vue(), tailwindcss(), onlyUsedVue(), compress()],
  define: {
    __APP_VERSION__: JSON.stringify(version),
    __APP_COMMIT__: JSON.stringify(commit()),
    __VUE_OPTIONS_API__: 'false',
    __VUE_I18N_LEGACY_API__: 'false',
    __INTLIFY_PROD_DEVTOOLS__: 'false',
  },
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  server: {
    host: '127.0.0.1',
    port: Number(process.env['PORT'] ?? 5173),
    proxy: { '/api': { target: backend, ws: true } },
  },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    manifest: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        // Two files until the first paint, and no request for each of fifty small parts; packages change less than we do.
        codeSplitting: {
          groups: [
            { name: 'packages', tags: ['$initial'], test: /node_modules/, priority: 2 },
            { name: 'first', tags: ['$initial'], priority: 1 },
          ],
        },
      },
    },
  },
  // Grammars are parts of their own, loaded as they are needed.
  worker: { format: 'es' },
  test: {
    environment: 'node',
    setupFiles: ['src/shared/testing/setup.ts'],
    restoreMocks: true,
    unstubGlobals: true,
    // A process for each file takes twice the time.
    projects: [
      { extends: true, test: { name: 'together', include: SPECS, exclude: replacing(), isolate: false } },
      { extends: true, test: { name: 'alone', include: replacing() } },
    ],
  },
})
