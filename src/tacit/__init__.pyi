"""What `import tacit` offers, for editors and type checkers; `tests/architecture` keeps it equal to `__init__.py`."""

from tacit import auditing as auditing
from tacit import errors as errors
from tacit import mechanisms as mechanisms
from tacit import noise as noise
from tacit import plots as plots
from tacit import privacy as privacy
from tacit import testing as testing
from tacit.errors import AnswerLost as AnswerLost
from tacit.errors import BudgetExceeded as BudgetExceeded
from tacit.errors import Exhausted as Exhausted
from tacit.errors import InvalidParameter as InvalidParameter
from tacit.errors import LedgerError as LedgerError
from tacit.errors import MissingBounds as MissingBounds
from tacit.errors import NotPrivate as NotPrivate
from tacit.errors import PolicyError as PolicyError
from tacit.errors import TacitError as TacitError
from tacit.errors import UnknownColumn as UnknownColumn
from tacit.mechanisms.bounded_laplace import BoundedLaplace as BoundedLaplace
from tacit.mechanisms.clamped_laplace import ClampedLaplace as ClampedLaplace
from tacit.mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from tacit.mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
from tacit.mechanisms.gaussian import Gaussian as Gaussian
from tacit.mechanisms.laplace import Laplace as Laplace
from tacit.mechanisms.one_sided import OneSidedExponential as OneSidedExponential
from tacit.mechanisms.staircase import Staircase as Staircase
from tacit.mechanisms.truncated_laplace import TruncatedLaplace as TruncatedLaplace
from tacit.noise.entropy import Entropy as Entropy
from tacit.privacy import ADD_REMOVE as ADD_REMOVE
from tacit.privacy import L1 as L1
from tacit.privacy import L2 as L2
from tacit.privacy import NOTHING_SPENT as NOTHING_SPENT
from tacit.privacy import REPLACE as REPLACE
from tacit.privacy import ROW as ROW
from tacit.privacy import ZCDP as ZCDP
from tacit.privacy import ApproxDP as ApproxDP
from tacit.privacy import Composition as Composition
from tacit.privacy import GaussianDP as GaussianDP
from tacit.privacy import Guarantee as Guarantee
from tacit.privacy import LInf as LInf
from tacit.privacy import Neighbours as Neighbours
from tacit.privacy import PureDP as PureDP
from tacit.privacy import RenyiDP as RenyiDP
from tacit.privacy import Sensitivity as Sensitivity
from tacit.privacy import Unit as Unit
from tacit.privacy import compose as compose

__version__: str
__all__: list[str]
