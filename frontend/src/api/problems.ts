import type { FieldError, Problem } from './types'

/** An answer that is not a success, or none at all (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** Bytes that what was too large may have. */
  limitBytes: number | null = null

  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly retryable = false,
    readonly errors: readonly FieldError[] = [],
    /** Seconds after which the server wants to be asked again. */
    readonly retryAfterS: number | null = null,
  ) {
    super(detail)
  }

  static unreachable(): ApiError {
    return new ApiError(0, 'unreachable', '', true)
  }

  static async from(response: Response): Promise<ApiError> {
    const text = await response.text().catch(() => '')
    return ApiError.fromText(response.status, text, response.headers.get('Retry-After'))
  }

  static fromText(status: number, text: string, retryAfter: string | null = null): ApiError {
    const problem = parseProblem(text)
    if (!problem) return new ApiError(status, `http_${status}`, '', status >= 500 || status === 429)
    const error = new ApiError(
      status,
      problem.code ?? `http_${status}`,
      problem.detail ?? problem.title ?? '',
      problem.retryable ?? (status >= 500 || status === 429),
      problem.errors ?? [],
      retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null,
    )
    error.limitBytes = problem.limit_bytes ?? null
    return error
  }
}

/** Refused for its size: sent again as it is, it would be refused again. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ApiError && error.status === 413 && error.code !== 'disk_full'
}

/** What a form calls the field that an error is about: of `body.tools.0` it is `tools`. */
export function fieldName({ field }: FieldError): string {
  return field.split('.').findLast((part) => !/^\d+$/.test(part)) ?? ''
}

function parseProblem(text: string): Partial<Problem> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}
