// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import { version } from '../../../package.json'
import AboutPage from './AboutPage.vue'

afterEach(cleanup)

it('names the version of the page and leads to the API', () => {
  render(AboutPage, { global: { plugins: [i18n] } })
  expect(screen.getByText('Version').nextElementSibling?.textContent).toBe(version)
  expect(screen.getByRole('link', { name: 'The API, route by route' }).getAttribute('href')).toBe('/docs')
})
