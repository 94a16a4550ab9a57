"""scikit-learn's own callback protocol (``sklearn.callback``), where it is installed."""

from typing import TYPE_CHECKING, Any

from steadyboost.ensemble.callbacks import Callback

if TYPE_CHECKING:
    from steadyboost.ensemble.loop import Boosting

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn below 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Without the protocol there is no ``set_callbacks``."""

    def with_callbacks(method: Any) -> Any:
        return method


class SklearnCallbacks(Callback):
    """Tell the callbacks that ``set_callbacks`` gave the estimator of each round."""

    def __init__(self, X: Any, y: Any):
        self.X, self.y = X, y

    def on_begin(self, run: "Boosting") -> None:
        booster = run.booster
        self._fit = booster._init_callback_context(max_subtasks=run.n_rounds)
        self._fit.call_on_fit_task_begin(estimator=booster, X=self.X, y=self.y)
        self._next_round(run)

    def _next_round(self, run: "Boosting") -> None:
        if len(run.stages) < run.n_rounds:
            self._round = self._fit.subcontext(task_name="round")
            self._round.call_on_fit_task_begin(estimator=run.booster, X=self.X, y=self.y)

    def on_round(self, run: "Boosting") -> bool:
        stop = self._round.call_on_fit_task_end(
            estimator=run.booster,
            X=self.X,
            y=self.y,
            reconstruction_attributes=lambda: {
                "stages_": list(run.stages),
                "history_": run.history[:],
            },
        )
        if not stop:
            self._next_round(run)
        return bool(stop)

    def on_end(self, run: "Boosting") -> None:
        self._fit.call_on_fit_task_end(estimator=run.booster, X=self.X, y=self.y)
