import type { Plugin } from 'vite'

const IMPORT = "import * as Vue from 'vue';"
const NEEDED =
  "import { getCurrentInstance as currentOfVue } from 'vue';\nconst Vue = { getCurrentInstance: currentOfVue };"

/** What vue-i18n takes of Vue, in place of all of Vue: it asks by name for a function that other versions have. */
export function withUsedVue(code: string): string {
  if (!code.includes(IMPORT))
    throw new Error('vue-i18n no longer imports all of Vue: take scripts/onlyUsedVue.ts away.')
  return code.replace(IMPORT, NEEDED)
}

/** Leaves out of the page what nobody uses of Vue. */
export function onlyUsedVue(): Plugin {
  return {
    name: 'only-used-vue',
    apply: 'build',
    enforce: 'pre',
    transform: (code, id) => (/\/vue-i18n\/dist\/vue-i18n\.mjs$/.test(id) ? withUsedVue(code) : null),
  }
}
