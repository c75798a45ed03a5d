import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

const backend = process.env['BACKEND_URL'] ?? 'http://127.0.0.1:8000'

export default defineConfig({
  plugins: [vue(), tailwindcss()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  server: {
    host: '127.0.0.1',
    port: Number(process.env['PORT'] ?? 5173),
    proxy: { '/api': { target: backend, ws: true } },
  },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 900 },
  // Grammars are parts of their own, loaded as they are needed.
  worker: { format: 'es' },
  test: { environment: 'node', include: ['src/**/*.spec.ts', 'scripts/**/*.spec.ts'], restoreMocks: true },
})
