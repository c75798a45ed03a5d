// @vitest-environment happy-dom
import { createApp, defineComponent } from 'vue'
import { expect, it } from 'vitest'
import { i18n, setLanguage } from '@/i18n'
import { ApiError } from './problems'
import { useProblemText } from './useProblemText'

function textOf(error: unknown): string {
  let text = ''
  const Component = defineComponent(() => {
    text = useProblemText()(error)
    return () => null
  })
  createApp(Component).use(i18n).mount(document.createElement('div'))
  return text
}

it.each([
  ['body.tools.0', 'too long', 'tools: too long'],
  ['body.cron', 'too short', 'cron: too short'],
  ['body.cron', 'This has 4 fields.', 'This has 4 fields.'],
])('names the field %s where it is not a whole sentence that tells', (field, message, said) => {
  expect(textOf(new ApiError(422, 'invalid', '', false, [{ field, message }]))).toContain(said)
})

it.each([
  ['key_characters', /^密钥不能含有空格/],
  ['base_url_https', /^地址必须以 https/],
  ['key_passphrase_wrong', /^密钥口令不对/],
  ['address_not_public', /^只能从公网地址/],
])('says of the fault %s of a key or address what is wrong in the page’s language', (code, said) => {
  setLanguage('zh')
  const error = { field: 'body.key', message: 'It is wrong.', code }
  expect(textOf(new ApiError(422, 'invalid', 'It is wrong.', false, [error]))).toMatch(said)
  setLanguage('en')
})

it.each([
  ['cron_weekday', /^第 5 个字段（星期）不对/],
  ['unheard_of', /^这不是可用的 Cron 表达式/],
  [undefined, /^这不是可用的 Cron 表达式/],
])('says of the fault %s what the page’s language has words for', async (code, said) => {
  setLanguage('zh')
  const error = { field: 'body.cron', message: 'Wrong.', code }
  expect(textOf(new ApiError(422, 'invalid', 'Wrong.', false, [error]))).toMatch(said)
  setLanguage('en')
  expect(textOf(new ApiError(422, 'invalid', 'Wrong.', false, [error]))).toBe('Wrong.')
})
