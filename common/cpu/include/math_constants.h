// math_constants.h - CUDA's names for mathematical constants, except the parts of those that a double cannot hold.
#pragma once
#include "cuda_runtime.h"

// clang-format off
#define CUDART_INF_F            __builtin_inff()
#define CUDART_NAN_F            __builtin_nanf("")
#define CUDART_MIN_DENORM_F     0x1p-149f
#define CUDART_MAX_NORMAL_F     0x1.fffffep127f
#define CUDART_NEG_ZERO_F       (-0.0f)
#define CUDART_ZERO_F           0.0f
#define CUDART_ONE_F            1.0f
#define CUDART_THIRD_F          (1.0f / 3)
#define CUDART_PI_F             3.141592654f
#define CUDART_PIO2_F           1.570796327f
#define CUDART_PIO4_F           0.785398163f
#define CUDART_3PIO4_F          2.356194490f
#define CUDART_2_OVER_PI_F      0.636619772f
#define CUDART_SQRT_2_OVER_PI_F 0.797884561f
#define CUDART_SQRT_TWO_F       1.414213562f
#define CUDART_SQRT_HALF_F      0.707106781f
#define CUDART_L2E_F            1.442695041f
#define CUDART_L2T_F            3.321928094f
#define CUDART_LG2_F            0.301029996f
#define CUDART_LGE_F            0.434294482f
#define CUDART_LN2_F            0.693147181f
#define CUDART_LNT_F            2.302585093f
#define CUDART_LNPI_F           1.144729886f
#define CUDART_TWO_TO_23_F      0x1p23f
#define CUDART_TWO_TO_24_F      0x1p24f
#define CUDART_TWO_TO_31_F      0x1p31f
#define CUDART_TWO_TO_32_F      0x1p32f
#define CUDART_TWO_TO_126_F     0x1p126f
#define CUDART_TWO_TO_M126_F    0x1p-126f

#define CUDART_INF              __builtin_inf()
#define CUDART_NAN              __builtin_nan("")
#define CUDART_MIN_DENORM       0x1p-1074
#define CUDART_NEG_ZERO         (-0.0)
#define CUDART_ZERO             0.0
#define CUDART_ONE              1.0
#define CUDART_THIRD            (1.0 / 3)
#define CUDART_TWOTHIRD         (2.0 / 3)
#define CUDART_PI               M_PI
#define CUDART_PIO2             M_PI_2
#define CUDART_PIO4             M_PI_4
#define CUDART_3PIO4            (3 * M_PI_4)
#define CUDART_2_OVER_PI        M_2_PI
#define CUDART_SQRT_2OPI        0.79788456080286536
#define CUDART_SQRT_2PI         2.5066282746310007
#define CUDART_SQRT_PIO2        1.2533141373155003
#define CUDART_SQRT_TWO         M_SQRT2
#define CUDART_SQRT_HALF        M_SQRT1_2
#define CUDART_L2E              M_LOG2E
#define CUDART_L2T              3.3219280948873622
#define CUDART_LG2              0.30102999566398120
#define CUDART_LGE              M_LOG10E
#define CUDART_LN2              M_LN2
#define CUDART_LNT              M_LN10
#define CUDART_LNPI             1.1447298858494002
#define CUDART_TWO_TO_23        0x1p23
#define CUDART_TWO_TO_52        0x1p52
#define CUDART_TWO_TO_53        0x1p53
#define CUDART_TWO_TO_54        0x1p54
#define CUDART_TWO_TO_M54       0x1p-54
#define CUDART_TWO_TO_M1022     0x1p-1022
// clang-format on
