import type { FieldError, Problem } from './types'

/** An answer that is not a success, or none at all (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly retryable = false,
    readonly errors: readonly FieldError[] = [],
    readonly requestId: string | null = null,
  ) {
    super(detail)
  }

  static unreachable(): ApiError {
    return new ApiError(0, 'unreachable', '', true)
  }

  static async from(response: Response): Promise<ApiError> {
    const text = await response.text().catch(() => '')
    return ApiError.fromText(response.status, text)
  }

  static fromText(status: number, text: string): ApiError {
    const problem = parseProblem(text)
    if (!problem) return new ApiError(status, `http_${status}`, '', status >= 500 || status === 429)
    return new ApiError(
      status,
      problem.code ?? `http_${status}`,
      problem.detail ?? problem.title ?? '',
      problem.retryable ?? (status >= 500 || status === 429),
      problem.errors ?? [],
      problem.request_id ?? null,
    )
  }
}

function parseProblem(text: string): Partial<Problem> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}
