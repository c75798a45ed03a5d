import { expect, it } from 'vitest'
import { withUsedVue } from './onlyUsedVue.ts'

it('takes one function of Vue in place of all of it, and says when it is not needed any more', () => {
  const changed = withUsedVue("import * as Vue from 'vue';\nexport const current = Vue.getCurrentInstance;")
  expect(changed).not.toContain('* as Vue')
  expect(changed).toContain('const Vue = { getCurrentInstance')
  expect(() => withUsedVue("import { h } from 'vue'")).toThrow('take scripts/onlyUsedVue.ts away')
})
