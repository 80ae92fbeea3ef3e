/* Image filters on 8-bit grey images, and the number of the calling OS thread. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

int os_thread_id(void) { return (int) syscall(SYS_gettid); }

static int clamp(int v, int hi) { return v < 0 ? 0 : v > hi ? hi : v; }

/* A plain box blur: slow on purpose, radius^2 work for each pixel. */
void box_blur(const uint8_t *src, uint8_t *dst, int w, int h, int r) {
    int n = (2 * r + 1) * (2 * r + 1);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sum = 0;
            for (int j = -r; j <= r; j++)
                for (int i = -r; i <= r; i++)
                    sum += src[clamp(y + j, h - 1) * w + clamp(x + i, w - 1)];
            dst[y * w + x] = (uint8_t) (sum / n);
        }
}

/* Sobel edges, several passes. */
void sobel_edges(const uint8_t *src, uint8_t *dst, int w, int h, int passes) {
    for (int p = 0; p < passes; p++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                int s[3][3];
                for (int j = 0; j < 3; j++)
                    for (int i = 0; i < 3; i++)
                        s[j][i] = src[clamp(y + j - 1, h - 1) * w + clamp(x + i - 1, w - 1)];
                int gx = s[0][2] + 2 * s[1][2] + s[2][2] - s[0][0] - 2 * s[1][0] - s[2][0];
                int gy = s[2][0] + 2 * s[2][1] + s[2][2] - s[0][0] - 2 * s[0][1] - s[0][2];
                int m = abs(gx) + abs(gy);
                dst[y * w + x] = (uint8_t) (m > 255 ? 255 : m);
            }
}

static int by_value(const void *a, const void *b) { return *(const uint8_t *) a - *(const uint8_t *) b; }

/* Median of 5 x 5 pixels by sorting. */
void median_filter(const uint8_t *src, uint8_t *dst, int w, int h) {
    uint8_t v[25];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int k = 0;
            for (int j = -2; j <= 2; j++)
                for (int i = -2; i <= 2; i++)
                    v[k++] = src[clamp(y + j, h - 1) * w + clamp(x + i, w - 1)];
            qsort(v, 25, 1, by_value);
            dst[y * w + x] = v[12];
        }
}
